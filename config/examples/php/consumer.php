#!/usr/bin/env php
<?php
// Consumes results, and prints job id, index, outcome and action of each.
//
// usage: MARTLET_BROKER_URI=amqps://user:password@host/ php consumer.php <count>      (0: for ever)
declare(strict_types=1);

use PhpAmqpLib\Connection\{AbstractConnection, AMQPConnectionConfig, AMQPConnectionFactory};
use PhpAmqpLib\Exception\AMQPExceptionInterface;
use PhpAmqpLib\Message\AMQPMessage;

require 'PhpAmqpLib/autoload.php'; // Debian's; with Composer: vendor/autoload.php

const OUTCOMES = ['accepted', 'dead_token', 'rejected', 'expired', 'exhausted', 'unknown', 'invalid', 'cancelled'];
const REMEMBERED = 100_000;

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
    $config->setHeartbeat(30); // seconds: how a connection is noticed that ended without a word
    $config->setReadTimeout(60);
    $config->setWriteTimeout(60);
    return AMQPConnectionFactory::create($config);
}

/** The results of a message by their ids: one, or several where results.batch is configured. */
function results(AMQPMessage $message): array
{
    $top = json_decode($message->getBody(), true, flags: JSON_THROW_ON_ERROR);
    if ($message->get('type') !== 'apns.results.v1') {
        return [$message->get('message_id') => $top];
    }
    $results = [];
    foreach ($top['results'] as $entry) {
        $results[$entry['message_id']] = array_merge($top, $entry);
    }
    return $results;
}

/** Does what the action says. Fields that this program does not know stay unread. */
function handle(array $result): void
{
    $where = "$result[job_id] $result[index]";
    $advice = match ($result['action']) {
        'none' => null,
        // Mark it now, and delete it an hour later unless a hold of the route came meanwhile:
        // UPDATE device_tokens SET dead_since = COALESCE(:token_invalid_since, :finished_at)
        // WHERE token = :device_token AND topic = :topic AND environment = :environment
        // AND registered_at <= COALESCE(:token_invalid_since, :finished_at)
        'drop_token' => 'forget the device token, dead since ' . ($result['token_invalid_since'] ?? 'ever'),
        'hold' => "delete nothing, tell the operator of route $result[route]",
        'fix_request', 'fix_topic', 'fix_credential' => "$result[action]: $result[reason], $result[detail]",
        'replay' => 'publish it again when the trouble is over',
        'check' => 'find out whether the push arrived',
        default => "unknown action $result[action]",
    };
    if ($advice !== null) {
        fwrite(STDERR, "$where: $advice\n");
    }
    echo "$where $result[outcome] $result[action]\n";
}

$count = (int) ($argv[1] ?? exit("usage: consumer.php <count>\n"));
$outcomes = [];
// A real program keeps these ids for a day in its database, and writes them with what it does about a result.
$seen = [];
$on_result = function (AMQPMessage $message) use ($count, &$outcomes, &$seen): void {
    foreach (results($message) as $id => $result) {
        $key = "$id $result[outcome]";
        if (isset($seen[$key])) {
            continue;
        }
        handle($result);
        $outcome = in_array($result['outcome'], OUTCOMES, true) ? $result['outcome'] : 'other';
        $outcomes[$outcome] = ($outcomes[$outcome] ?? 0) + 1;
        $seen[$key] = true;
        if (count($seen) > REMEMBERED) {
            unset($seen[array_key_first($seen)]);
        }
    }
    $message->ack(); // only now: what is not handled comes again
    if ($count > 0 && array_sum($outcomes) >= $count) {
        $message->getChannel()->stopConsume();
    }
};

for ($pause = 1; $count === 0 || array_sum($outcomes) < $count; $pause = min(2 * $pause, 30)) {
    $before = array_sum($outcomes);
    try {
        $connection = connect();
        $channel = $connection->channel();
        $channel->basic_qos(0, 200, false);
        $channel->basic_consume(getenv('MARTLET_RESULTS_QUEUE') ?: 'apns.q.results', callback: $on_result);
        $channel->consume();
        $connection->close();
    } catch (AMQPExceptionInterface $error) {
        $pause = array_sum($outcomes) > $before ? 1 : $pause;
        fwrite(STDERR, "Lost the broker, {$error->getMessage()}; again in $pause s\n");
        sleep($pause);
    }
}
fwrite(STDERR, 'Outcomes: ' . json_encode($outcomes) . "\n");
