#!/usr/bin/env ruby
# Publishes one job per device token, and prints the id of each job that the broker has confirmed.
#
# usage: MARTLET_BROKER_URI=amqps://user:password@host/ producer.rb <topic> <device token>...
require "bunny"
require "json"
require "logger"
require "securerandom"
require "timeout"

ATTEMPTS = 8
Job = Struct.new(:properties, :body)

abort "usage: producer.rb <topic> <device token>..." if ARGV.length < 2
topic, *device_tokens = ARGV
key = "#{ENV.fetch("MARTLET_ENVIRONMENT", "development")}.normal.#{topic}"
$stdout.sync = true

# Id and deadline stay the same on every attempt to publish a job.
pending = device_tokens.map do |device_token|
  now = (Time.now.to_f * 1000).to_i
  properties = { message_id: SecureRandom.uuid, content_type: "application/json", persistent: true,
                 headers: { "x-apns-enqueued-at" => now, "x-apns-deadline" => now + 3_600_000 } }
  Job.new(properties, JSON.generate(device_token: device_token, payload: { aps: { alert: "Order shipped" } }))
end

# Removes from the pending jobs those that the broker confirms.
def publish(key, pending)
  # A slash at the end would mean the virtual host "". A URI alone does not verify the broker's certificate.
  connection = Bunny.new(ENV.fetch("MARTLET_BROKER_URI").chomp("/"), verify_peer: true, automatically_recover: false,
                         recover_from_connection_close: false, logger: Logger.new(File::NULL))
  Timeout.timeout(30) { connection.start }
  channel = connection.create_channel
  channel.confirm_select
  exchange = channel.exchange("apns.jobs", type: :topic, no_declare: true)
  returned = false
  exchange.on_return { returned = true } # called before the confirm of a returned job
  pending.dup.each do |job|
    exchange.publish(job.body, routing_key: key, mandatory: true, **job.properties)
    confirmed = channel.wait_for_confirms # for 15 s
    abort "The broker returned a job. Run: martlet topology check" if returned
    next unless confirmed # the route's queue is full

    pending.delete(job)
    puts job.properties[:message_id]
  end
rescue Timeout::Error
  abort "The broker refuses jobs, 403 or 404. Run: martlet topology apply" if channel&.closed?
  raise
ensure
  connection&.close if connection&.open?
end

ATTEMPTS.times do |attempt|
  problem = "the queue is full"
  begin
    # Bunny raises a lost connection in the thread that opened it, also later: so every attempt has its own.
    Thread.new { publish(key, pending) }.tap { |thread| thread.report_on_exception = false }.join
  rescue StandardError => e # Bunny has many, not all of them its own
    problem = "#{e.class}: #{e.message}"
  end
  exit if pending.empty?
  pause = [2**attempt, 30].min
  warn "#{pending.length} jobs not confirmed, #{problem}; again in #{pause} s"
  sleep pause
end
exit 1
