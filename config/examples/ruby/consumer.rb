#!/usr/bin/env ruby
# Consumes results, and prints job id, index, outcome and action of each.
#
# usage: MARTLET_BROKER_URI=amqps://user:password@host/ consumer.rb <count>      (0: for ever)
require "bunny"
require "json"
require "logger"
require "timeout"

QUEUE = ENV.fetch("MARTLET_RESULTS_QUEUE", "apns.q.results")
OUTCOMES = %w[accepted dead_token rejected expired exhausted unknown invalid cancelled].freeze
REMEMBERED = 100_000

abort "usage: consumer.rb <count>" if ARGV.length != 1
count = Integer(ARGV[0])
$stdout.sync = true
$outcomes = Hash.new(0)
# A real program keeps these ids for a day in its database, and writes them with what it does about a result.
$seen = {}

# The results of a message with their ids: one, or several where results.batch is configured.
def results(properties, body)
  top = JSON.parse(body)
  return [[properties.message_id, top]] if properties.type != "apns.results.v1"

  top["results"].map { |entry| [entry["message_id"], top.merge(entry)] }
end

# Does what the action says. Fields that this program does not know stay unread.
def handle(result)
  action = result["action"]
  advice =
    case action
    when "none" then nil
    when "drop_token"
      # Mark it now, and delete it an hour later unless a hold of the route came meanwhile:
      # UPDATE device_tokens SET dead_since = COALESCE(:token_invalid_since, :finished_at)
      # WHERE token = :device_token AND topic = :topic AND environment = :environment
      # AND registered_at <= COALESCE(:token_invalid_since, :finished_at)
      "forget the device token, dead since #{result["token_invalid_since"] || "ever"}"
    when "hold" then "delete nothing, tell the operator of route #{result["route"]}"
    when "fix_request", "fix_topic", "fix_credential" then "#{action}: #{result["reason"]}, #{result["detail"]}"
    when "replay" then "publish it again when the trouble is over"
    when "check" then "find out whether the push arrived"
    else "unknown action #{action}"
    end
  warn "#{result["job_id"]} #{result["index"]}: #{advice}" if advice
  puts "#{result["job_id"]} #{result["index"]} #{result["outcome"]} #{action}"
  $outcomes[OUTCOMES.include?(result["outcome"]) ? result["outcome"] : "other"] += 1
end

# Takes results until there are enough, or the connection or the consumer ends.
def consume(count)
  inbox = Queue.new # the prefetch bounds it
  ended = Object.new # told of a lost connection; Bunny would otherwise raise it in the midst of this thread
  ended.define_singleton_method(:raise) { |*| inbox.close }
  # A slash at the end would mean the virtual host "". A URI alone does not verify the broker's certificate.
  connection = Bunny.new(ENV.fetch("MARTLET_BROKER_URI").chomp("/"), verify_peer: true, automatically_recover: false,
                         recover_from_connection_close: false, session_error_handler: ended,
                         logger: Logger.new(File::NULL))
  Timeout.timeout(30) { connection.start }
  channel = connection.create_channel
  channel.prefetch(200)
  channel.queue(QUEUE, no_declare: true)
         .subscribe(manual_ack: true, on_cancellation: ->(*) { inbox.close }) { |*delivery| inbox << delivery }
  until $outcomes.values.sum >= count && count.positive?
    delivery, properties, body = inbox.pop || raise("the connection or the consumer ended")
    results(properties, body).each do |id, result|
      key = [id, result["outcome"]]
      next if $seen.key?(key)

      handle(result)
      $seen[key] = true
      $seen.shift if $seen.size > REMEMBERED
    end
    channel.ack(delivery.delivery_tag) # only now: what is not handled comes again
  end
ensure
  connection&.close if connection&.open?
end

pause = 1
begin
  before = $outcomes.values.sum
  consume(count)
rescue StandardError => e # Bunny has many, not all of them its own
  pause = $outcomes.values.sum > before ? 1 : [2 * pause, 30].min
  warn "Lost the broker, #{e.class}: #{e.message}; again in #{pause} s"
  sleep pause
  retry
end
warn "Outcomes: #{$outcomes}"
