#!/usr/bin/env php
<?php
// Publishes one job per device token, and prints the id of each job that the broker has confirmed.
//
// usage: MARTLET_BROKER_URI=amqps://user:password@host/ php producer.php <topic> <device token>...
declare(strict_types=1);

use PhpAmqpLib\Connection\{AbstractConnection, AMQPConnectionConfig, AMQPConnectionFactory};
use PhpAmqpLib\Exception\{AMQPExceptionInterface, AMQPProtocolChannelException};
use PhpAmqpLib\Message\AMQPMessage;
use PhpAmqpLib\Wire\AMQPTable;

require 'PhpAmqpLib/autoload.php'; // Debian's; with Composer: vendor/autoload.php

const ATTEMPTS = 8;

function fail(string $reason): never
{
    fwrite(STDERR, "$reason\n");
    exit(1);
}

function connect(): AbstractConnection
{
    $uri = array_map('rawurldecode', array_map('strval', parse_url(getenv('MARTLET_BROKER_URI'))));
    $secure = $uri['scheme'] === 'amqps';
    $config = new AMQPConnectionConfig();
    $config->setHost($uri['host']);
    $config->setPort((int) ($uri['port'] ?? ($secure ? 5671 : 5672)));
    $config->setUser($uri['user'] ?? 'guest');
    $config->setPassword($uri['pass'] ?? 'guest');
    $config->setVhost(substr($uri['path'] ?? '', 1) ?: '/');
    if ($secure) { // this version of the client sends in clear where one of the three is missing
        $config->setIsSecure(true);
        $config->setNetworkProtocol('ssl');
        $config->setSslVerify(true);
    }
    return AMQPConnectionFactory::create($config);
}

/** Makes id and deadline, which stay the same on every attempt to publish the job. */
function job(string $deviceToken): AMQPMessage
{
    $now = (int) (microtime(true) * 1000);
    $id = random_bytes(16);
    $id[6] = chr(ord($id[6]) & 0x0f | 0x40);
    $id[8] = chr(ord($id[8]) & 0x3f | 0x80);
    $body = ['device_token' => $deviceToken, 'payload' => ['aps' => ['alert' => 'Order shipped']]];
    return new AMQPMessage(json_encode($body, JSON_THROW_ON_ERROR), [
        'message_id' => vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($id), 4)), // a UUID of version 4
        'content_type' => 'application/json',
        'delivery_mode' => AMQPMessage::DELIVERY_MODE_PERSISTENT,
        'application_headers' => new AMQPTable(['x-apns-enqueued-at' => $now, 'x-apns-deadline' => $now + 3_600_000]),
    ]);
}

/** Publishes all pending jobs, then removes those that the broker confirms. */
function publish(AbstractConnection $connection, string $key, array &$pending): void
{
    $channel = $connection->channel();
    $channel->confirm_select();
    $channel->set_return_listener(fn () => fail('The broker returned a job. Run: martlet topology check'));
    $channel->set_ack_handler(function (AMQPMessage $job) use (&$pending): void {
        unset($pending[$job->get('message_id')]);
        echo $job->get('message_id'), "\n";
    });
    foreach ($pending as $job) { // a job that the broker refuses, because the route's queue is full, stays pending
        $channel->basic_publish($job, 'apns.jobs', $key, true);
    }
    $channel->wait_for_pending_acks_returns(30);
    $connection->close();
}

if ($argc < 3) {
    fail('usage: producer.php <topic> <device token>...');
}
$key = (getenv('MARTLET_ENVIRONMENT') ?: 'development') . '.normal.' . $argv[1];
$pending = [];
foreach (array_slice($argv, 2) as $deviceToken) {
    $job = job($deviceToken);
    $pending[$job->get('message_id')] = $job;
}
for ($attempt = 0; $attempt < ATTEMPTS; $attempt++) {
    $problem = 'the queue is full';
    try {
        publish(connect(), $key, $pending);
    } catch (AMQPProtocolChannelException $refusal) {
        fail('The broker refuses jobs. Run: martlet topology apply. It said: ' . $refusal->getMessage());
    } catch (AMQPExceptionInterface $error) {
        $problem = $error->getMessage();
    }
    if ($pending === []) {
        exit(0);
    }
    $pause = min(2 ** $attempt, 30);
    fwrite(STDERR, count($pending) . " jobs not confirmed, $problem; again in $pause s\n");
    sleep($pause);
}
exit(1);
