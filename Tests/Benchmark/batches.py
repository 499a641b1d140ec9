"""Parts of the benchmark: results that go out several in a message, beside results that are a message each."""
import collections, json, os, signal, statistics, sys, time

from parts import median, rounds
from stack import cpu_seconds, free_port, samples, until_idle

# The most results in a message, and for how long all of a round may take.
BATCH, ROUND_SECONDS = 100, 300
# A campaign to all users of an app: jobs, device tokens of each, workers of one lane each, and jobs of the first minute.
CAMPAIGN, AUDIENCE, WORKERS, FIRST = 1_000, 1_000, 2, 400


def batches(bench):
    """Single raw jobs and multicast jobs, each with and without batches: rate, and CPU of worker and broker. The worker has
    two connections: on one of them the server's thread is busier than the worker, and limits the rate."""
    jobs, tokens = bench.arguments.jobs, 100
    multicast = max(1, jobs // tokens * 4)
    plain = bench.configure("plain", connections=2)
    batched = bench.configure("batched", connections=2, more=f"results: {{ batch: {BATCH} }}\n")
    ways = {"raw": (plain, "raw", jobs, 1), "raw, batches": (batched, "raw", jobs, 1),
            "multicast": (plain, "multicast", multicast, tokens),
            "multicast, batches": (batched, "multicast", multicast, tokens)}
    rows, h2load = {name: [] for name in ways}, []
    for _ in rounds("batches", bench.arguments.rounds):
        h2load.append(bench.measure_sending(jobs))
        for name, way in ways.items():
            rows[name].append(measure(bench, *way))
    print(f"\nresults in batches of up to {BATCH}, per notification")
    print(f"{'':20} {'CPU µs':>8} {'broker µs':>10} {'per second':>11} {'per message':>12}")
    print(f"{'h2load':20} {statistics.median(h2load):8.2f}   (sending alone, per push)")
    for name, r in rows.items():
        print(f"{name:20} {median(r, 'cpu'):8.2f} {median(r, 'broker'):10.2f} {median(r, 'rate'):11.0f} "
              f"{median(r, 'size'):12.1f}")

    def faster(one, other):
        return median(rows[one], "rate") / median(rows[other], "rate")

    print(f"multicast with batches carries {faster('multicast, batches', 'raw'):.1f} × the notifications per second of "
          f"single raw jobs, at {median(rows['multicast, batches'], 'cpu') / statistics.median(h2load):.2f} × h2load's CPU")
    print(f"single raw jobs with batches are {faster('raw, batches', 'raw'):.2f} × as fast as without", flush=True)
    return {"h2load": h2load, **rows}


def measure(bench, configuration, form, messages, tokens):
    """One worker that is stopped while the queue fills, then let go. It is done when all is acknowledged."""
    worker = bench.start_worker(configuration)
    bench.warm(worker)
    broker = bench.broker_process()
    worker.send_signal(signal.SIGSTOP)
    bench.fill(form, messages)
    before, started = [cpu_seconds(pid) for pid in (worker.pid, broker)], time.monotonic()
    worker.send_signal(signal.SIGCONT)
    notifications = messages * tokens
    ended, used = until_settled(bench, [worker], broker, [bench.admin], messages + 1, notifications + 1)
    cpu, broker_cpu = (later - earlier for later, earlier in zip(used, before))
    # One message was for the first job.
    size = notifications / (results_published(bench) - 1)
    bench.leave(worker)
    return {"cpu": cpu / notifications * 1e6, "broker": broker_cpu / notifications * 1e6, "size": size,
            "rate": notifications / (ended - started)}


def until_settled(bench, workers, broker, ports, messages, notifications):
    """Waits until workers have acknowledged so many jobs together since their start. See `until_idle` for what it gives."""
    counts = collections.Counter()

    def done():
        if any(worker.poll() is not None for worker in workers):
            sys.exit("bench: a worker has ended")
        usual = bench.admin
        counts.clear()
        for bench.admin in ports:
            try:
                counts.update(bench.counts())
            except OSError:
                pass  # it has just begun
        bench.admin = usual
        jobs = sum(count for key, count in counts.items() if key[0] == "jobs")
        return jobs == messages and counts["accepted"] == notifications

    if not (idle := until_idle([worker.pid for worker in workers], [broker], done, ROUND_SECONDS)):
        sys.exit(f"bench: not all of {messages} jobs are acknowledged, or of {notifications} notifications accepted: {counts}")
    return idle


def results_published(bench):
    """How many messages with results a worker has published; a lane shows what it counts four times a second."""
    time.sleep(0.5)
    return sum(value for labels, value in samples(bench.metrics(), "martlet_publications_total") if labels["kind"] == "result")


def campaign(bench):
    """A million notifications of one app by a thousand multicast jobs, from the moment at which the workers begin until
    every job is acknowledged; results come in batches."""
    ports, usual, broker = [free_port() for _ in range(WORKERS)], bench.admin, bench.broker_process()
    workers = [start_one(bench, f"campaign{number}", port) for number, port in enumerate(ports)]
    bench.fill("raw", FIRST)
    until_settled(bench, workers, broker, ports, FIRST, FIRST)
    for worker in workers:
        worker.send_signal(signal.SIGSTOP)
    push = bench.push("campaign")
    for _ in range(CAMPAIGN):
        push.stdin.write((json.dumps({"topic": "com.example.bench", "environment": "development",
                                      "device_tokens": [token(number) for number in range(AUDIENCE)],
                                      "payload": {"aps": {"alert": "x" * 200}}}) + "\n").encode())
    push.stdin.close()
    if push.wait(ROUND_SECONDS):
        sys.exit("bench: the campaign was not published")
    processes = [*(worker.pid for worker in workers), broker]
    before, started = [cpu_seconds(pid) for pid in processes], time.monotonic()
    for worker in workers:
        worker.send_signal(signal.SIGCONT)
    notifications = CAMPAIGN * AUDIENCE
    ended, used = until_settled(bench, workers, broker, ports, FIRST + CAMPAIGN, FIRST + notifications)
    elapsed = ended - started
    *cpu, broker_cpu = ((later - earlier) / notifications * 1e6 for later, earlier in zip(used, before))
    print(f"\n{notifications:,} notifications by {CAMPAIGN:,} multicast jobs, {WORKERS} workers of one lane: {elapsed:.1f} s, "
          f"{notifications / elapsed:,.0f} per second; CPU µs per notification: workers {sum(cpu):.2f}, broker {broker_cpu:.2f}",
          flush=True)
    for worker in workers:
        bench.leave(worker)
    bench.admin = usual
    return {"seconds": elapsed, "cpu": sum(cpu), "broker": broker_cpu}


def token(number):
    """A device token that the server knows."""
    return f"{number:04d}" + "0" * 60


def start_one(bench, name, port):
    """A worker with an admin port of its own."""
    bench.admin = port
    configuration = bench.configure(name, more=f"results: {{ batch: {AUDIENCE} }}\n")
    return bench.start(name, [bench.martlet, "worker", "--config", configuration],
                       env=dict(os.environ, MARTLET_INSTANCE=name))

