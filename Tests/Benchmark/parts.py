"""Parts of the benchmark beside the cost of one route: system calls, many routes in one worker, and the
memory for their jobs."""
import collections, json, os, re, shutil, signal, statistics, subprocess, sys, time

from stack import footprint, memory

# Jobs a second of the trickle on one route among many, and for how long: turns carry few jobs then, so that what a turn
# costs by itself shows.
TRICKLE, TRICKLE_SECONDS = 300, 5
# What two executables are compared by: each form of jobs, and messages of it beside the number of raw jobs.
FORMS = {"raw": 1, "multicast": 0.04}
# How long a worker idles beside many routes, and how many rounds of that are enough: connecting takes most of the time.
IDLE_SECONDS, ROUTE_ROUNDS = 10, 3
# From how many jobs each route learns how large its jobs are, and for how long what a worker holds must stay the same to be
# all that it takes, and may take to get there.
LEARNED, STEADY_SECONDS, FILLING_SECONDS = 128, 3, 40
# What a worker may need besides its jobs, in MiB: by itself, and for each busy route. Those of 300 took 66 in all.
OWN_MEMORY, ROUTE_MEMORY = 16, 0.3
# How often RabbitMQ closes the connections of a worker with many routes, and by how much its RssAnon may grow from the first
# time to the last, in MiB.
RECONNECTS, RECONNECT_GROWTH = 6, 8


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def rounds(name, count):
    """Numbers the rounds of a part, and tells which one it is."""
    for number in range(count):
        print(f"{name}: round {number + 1} of {count}", file=sys.stderr)
        yield number


# ---- two executables ----

def pairs(bench):
    """The CPU per notification of this executable beside another one's. Both take turns on one broker and one server, and
    the one that goes first changes, so that the machine's moods fall on both; only the ratios of pairs are told."""
    this, other = bench.martlet, bench.arguments.beside
    jobs, names = bench.arguments.jobs, {this: "this", other: "beside"}
    ratios = {form: [] for form in FORMS}
    figures = {(form, path): [] for form in FORMS for path in names}
    for number in rounds("pairs", bench.arguments.rounds):
        for form, portion in FORMS.items():
            pair = {}
            for path in (this, other) if number % 2 == 0 else (other, this):
                bench.martlet = path
                pair[path] = bench.measure_worker(form, int(jobs * portion))
                figures[form, path].append(pair[path])
            ratios[form].append(pair[this]["cpu"] / pair[other]["cpu"])
    bench.martlet = this
    print(f"\n{'':10} {'this µs':>8} {'beside':>8} {'ratio':>7} {'from':>6} {'to':>6}   {'RssAnon of both':>15}")
    for form, values in ratios.items():
        cpu = [median(figures[form, path], "cpu") for path in (this, other)]
        held = " ".join(f"{median(figures[form, path], 'RssAnon'):7.1f}" for path in (this, other))
        print(f"{form:10} {cpu[0]:8.2f} {cpu[1]:8.2f} {statistics.median(values):7.3f} {min(values):6.2f} "
              f"{max(values):6.2f}   {held} MiB", flush=True)
    return ratios


# ---- instructions ----

# Runs of both lengths are counted, and their difference is the cost of the jobs in between.
SHORT, LONG = 1000, 3000


def instructions(bench):
    """Instructions of the floors per job, beside those of a worker that `count` keeps."""
    rows = {}
    for name, way in (("floor", "work"), ("lean", "lean")):
        counts = []
        for jobs in (SHORT, LONG):
            out = bench.path(f"{name}-{jobs}.callgrind")
            bench.measure_floor(way, jobs, tracer=("valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"))
            with open(out) as file:
                counts.append(int(re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)[1]))
        rows[name] = (counts[1] - counts[0]) // (LONG - SHORT)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "count.json")) as file:
        rows |= {kind: figures["all"] for kind, figures in json.load(file)["release"].items()}
    print("\ninstructions per notification: the floors' own here, a worker's of count.json")
    for name, count in rows.items():
        print(f"{name:10} {count:8,} {count / rows['lean']:6.2f} × lean", flush=True)
    return rows


# ---- system calls ----

COLUMNS = ("sendto", "write", "writev", "sendmsg", "recvfrom", "read", "epoll_wait", "poll")
# What the kernel has under several names.
ALIASES = {"epoll_pwait": "epoll_wait", "epoll_pwait2": "epoll_wait", "ppoll": "poll"}


def calls(bench):
    """System calls of floors and worker per job. Each call takes longer under strace, so that more jobs share a turn
    than otherwise; how many do is shown for both."""
    if not shutil.which("strace"):
        return print("system calls: strace is not installed")
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode:
        return print("system calls: strace may not trace processes here")
    jobs = min(bench.arguments.jobs, 20_000)
    rows = {}
    for name, way in (("floor", "work"), ("lean", "lean")):
        bench.measure_floor(way, jobs, tracer=tracer(bench, name))
        rows[name] = {"calls": traced(bench, name)}
    # What a worker does from its start to its first job, and at its end, is counted apart and taken off.
    around = worker_calls(bench, "around")["calls"]
    for form in ("raw", "enveloped"):
        rows[form] = worker_calls(bench, form, jobs)
        rows[form]["calls"].subtract(around)
        rows[form]["alone"] = bench.measure_worker(form, jobs)["turn"]
    print(f"\nsystem calls per job, {jobs:,} jobs under strace -c -f, which makes turns larger")
    print(f"{'':10} " + " ".join(f"{name:>{width(name)}}" for name in (*COLUMNS, "total"))
          + f" {'per turn':>9} {'without':>8}   other")
    for name, row in rows.items():
        per_job = {call: count / jobs for call, count in row["calls"].most_common()}
        values = {**{call: per_job.get(call, 0) for call in COLUMNS}, "total": sum(per_job.values())}
        line = " ".join(f"{value:{width(call)}.3f}" for call, value in values.items())
        turns = f"{row['turn']:9.1f} {row['alone']:8.1f}" if "turn" in row else " " * 18
        other = [f"{call} {value:.3f}" for call, value in per_job.items() if call not in COLUMNS and value >= 0.005]
        print(f"{name:10} {line} {turns}   {', '.join(other)}", flush=True)
    return rows


def width(column):
    return max(len(column), 6)


def tracer(bench, name):
    """A command that counts the calls of the one behind it; -D leaves that one our own child."""
    return ["strace", "-D", "-c", "-f", "-o", bench.path(name + ".calls")]


def traced(bench, name):
    """What a tracer has counted. It writes its table once the process has ended."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if os.path.exists(bench.path(name + ".calls")):
            with open(bench.path(name + ".calls")) as f:
                table = f.read()
            if re.search(r" total$", table, re.MULTILINE):
                break
        time.sleep(0.1)
    else:
        sys.exit("bench: strace has counted nothing")
    counts = collections.Counter()
    # % time, seconds, µs per call, calls, and errors where there were any
    for count, call in re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", table, re.MULTILINE):
        if call != "total":
            counts[ALIASES.get(call, call)] += int(count)
    return counts


def worker_calls(bench, name, jobs=0):
    """The calls of a worker's life with this many jobs, and how many of those share a turn."""
    worker = bench.start_worker(bench.configuration, tracer=tracer(bench, name))
    bench.warm(worker)
    figures = bench.measure_work(worker, name, jobs) if jobs else {}
    bench.leave(worker)
    return {"calls": traced(bench, name), "turn": figures.get("turn")}


# ---- routes ----

# What is measured of so many routes, and how it is written.
FIGURES = {"alone": ("first job, on one route, s", ".2f"), "first": ("first job of each route, s", ".2f"),
           "threads": ("threads meanwhile, at most", ".0f"), "idle": ("idle, % of a core", ".2f"),
           "begun": ("CPU µs, one route, from rest", ".2f"), "one": ("CPU µs, one route, then", ".2f"),
           "all": ("CPU µs, jobs on all routes", ".2f"), "h2load": ("h2load, as many connections", ".2f"),
           "turn": ("jobs per turn, on all routes", ".1f"), "trickle": (f"CPU µs, {TRICKLE} jobs/s on one", ".0f"),
           "quiet": ("RssAnon MiB, idle", ".1f"), "RssAnon": ("RssAnon MiB, at most", ".1f")}


def routes(bench):
    """Workers with few and with many routes, each route with one connection, on one lane."""
    counts = [int(count) for count in bench.arguments.routes.split(",")]
    configurations = {count: bench.configure(f"routes{count}", routes=count) for count in counts}
    bench.declare(configurations[max(counts)])
    rows = {count: [] for count in counts}
    for _ in rounds("routes", min(bench.arguments.rounds, ROUTE_ROUNDS)):
        for count, measured in rows.items():
            measured.append(measure_routes(bench, configurations[count], count))
    print("\nroutes in one worker with one lane; ratios are to the first column")
    print(f"{'':28}" + "".join(f"{count:>10} {'×':>7}" for count in counts))
    for key, (name, format_) in FIGURES.items():
        figures = [median(measured, key) for measured in rows.values()]
        print(f"{name:28}" + "".join(f"{value:10{format_}} {value / (figures[0] or float('nan')):7.2f}"
                                     for value in figures), flush=True)
    return rows


def measure_routes(bench, configuration, count):
    """One worker with so many routes: idle, with jobs on one of them, and with jobs on all.

    A route's window grows with its use and shrinks with that of others. So the first portion on one route shows how it
    begins, and the portion after that how it goes on."""
    jobs = bench.arguments.jobs
    alone, _, worker = first_jobs(bench, configuration, 1)
    bench.leave(worker)
    first, threads, worker = first_jobs(bench, configuration, count)
    bench.purge()
    # What comes right after the first jobs is not yet idleness.
    time.sleep(2)
    idle, quiet = bench.measure_idle(worker, IDLE_SECONDS), memory(worker.pid)["RssAnon"]
    begun = bench.measure_work(worker, "raw", jobs // 3)
    one = bench.measure_work(worker, "raw", jobs)
    trickle = bench.measure_work(worker, "raw", TRICKLE * TRICKLE_SECONDS, rate=TRICKLE)
    spread = bench.measure_work(worker, "raw", jobs, routes=count)
    bench.leave(worker)
    return {"alone": alone, "first": first, "threads": threads, "idle": idle, "quiet": quiet, "begun": begun["cpu"],
            "one": one["cpu"], "all": spread["cpu"], "h2load": bench.measure_sending(jobs, count), "turn": spread["turn"],
            "trickle": trickle["cpu"], "RssAnon": max(spread["RssAnon"], one["RssAnon"])}


def first_jobs(bench, configuration, count):
    """Starts a worker for which one job waits on each of so many routes; how long until all are done, how many threads it
    had meanwhile, and the worker."""
    # The jobs are there before the worker is; a confirmed one also means that its route's queue works.
    bench.fill("raw", count, routes=count)
    threads, began, worker = [0], time.monotonic(), bench.start_worker(configuration)
    bench.await_results(worker, count, 60 + count, lambda: threads.append(footprint(worker.pid)["threads"]))
    return time.monotonic() - began, max(threads), worker


# ---- profile ----

def profile(bench):
    """Where a worker's time goes while it carries raw jobs: samples by library and by function."""
    if not shutil.which("perf"):
        return print("profile: perf is not installed")
    worker, samples = bench.start_worker(bench.configuration), bench.path("perf.data")
    bench.warm(worker)
    # The worker is stopped while the queue fills, and has no samples then.
    recorder = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-o", samples, "-p", str(worker.pid)],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bench.measure_work(worker, "raw", bench.arguments.jobs)
    recorder.send_signal(signal.SIGINT)
    recorder.wait(30)
    bench.leave(worker)
    for title, sort, least in (("library", "dso", 0.5), ("function", "sym", 1)):
        report = subprocess.run(["perf", "report", "-i", samples, "--no-children", "-g", "none", "--sort", sort,
                                 "--percent-limit", str(least)], capture_output=True, text=True).stdout
        lines = [line.rstrip() for line in report.split("\n") if line.strip() and not line.startswith("#")]
        if not lines:
            return print("profile: perf may not look at processes here")
        print(f"\nsamples of a worker with {bench.arguments.jobs:,} raw jobs, by {title}, from {least} %")
        print("\n".join(lines), flush=True)


# ---- memory ----

def job_memory(bench):
    """One worker with many busy routes and payloads of 4 KiB, while APNs answers nothing and then everything: its memory
    beside what the configuration allows its jobs. Fails where it holds more, or where its memory is larger than that and
    what routes need."""
    count, budget = bench.arguments.busy, bench.arguments.budget
    # Requests wait for as long as it takes, and connections do not.
    configuration = bench.configure(f"busy{count}", routes=count, more=f"memory: {{ jobs: {budget}MiB }}\n",
                                    apns=", request_timeout: 5m, connect_rate: 16, connect_burst: 32")
    bench.declare(configuration)
    _, _, worker = first_jobs(bench, configuration, count)
    bench.purge()
    bench.fill("large", count * LEARNED, routes=count)
    bench.await_results(worker, count * LEARNED, 300)
    bench.purge()
    quiet, peak = memory(worker.pid)["RssAnon"], {"RssAnon": 0, "held": 0}
    bench.apns.send_signal(signal.SIGSTOP)
    # Twice what it may hold.
    jobs = (2 * budget << 20) // 4096
    bench.fill("large", jobs, routes=count)
    began = changed = time.monotonic()
    while time.monotonic() - changed < STEADY_SECONDS and time.monotonic() - began < FILLING_SECONDS:
        held = bench.value("martlet_jobs_in_flight_bytes") / 2**20
        if held > peak["held"]:
            changed = time.monotonic()
        peak = {"RssAnon": max(peak["RssAnon"], memory(worker.pid)["RssAnon"]), "held": max(peak["held"], held)}
        time.sleep(0.1)
    frozen = peak["RssAnon"]
    bench.apns.send_signal(signal.SIGCONT)
    began = time.monotonic()
    bench.await_results(worker, jobs, 300, lambda: peak.update(RssAnon=max(peak["RssAnon"], memory(worker.pid)["RssAnon"])))
    rate = jobs / (time.monotonic() - began)
    bench.leave(worker)
    print(f"\n{count} busy routes, payloads of 4 KiB, memory.jobs {budget} MiB, MiB")
    for name, value in (("RssAnon before", quiet), ("RssAnon while APNs is silent", frozen),
                        ("RssAnon, at most", peak["RssAnon"]), ("jobs held, at most", peak["held"])):
        print(f"{name:28} {value:8.1f} {value / budget:7.2f} × memory.jobs", flush=True)
    print(f"{'jobs per second afterwards':28} {rate:8.0f}", flush=True)
    if peak["held"] > budget:
        sys.exit("bench: the worker holds more jobs than memory.jobs allows")
    allowed = budget + OWN_MEMORY + ROUTE_MEMORY * count
    if peak["RssAnon"] > allowed:
        sys.exit(f"bench: RssAnon was {peak['RssAnon']:.0f} MiB, more than memory.jobs and what routes need: {allowed:.0f} MiB")
    return {"quiet": quiet, "frozen": frozen, "rate": rate, **peak}


# ---- reconnects ----

def reconnects(bench):
    """One worker with many routes, whose connections RabbitMQ closes again and again: its memory once every
    route has carried a job after that. Fails where it grows."""
    count = bench.arguments.busy
    configuration = bench.configure(f"again{count}", routes=count,
                                    apns=", connect_rate: 16, connect_burst: 32")
    bench.declare(configuration)
    _, _, worker = first_jobs(bench, configuration, count)
    rows = [memory(worker.pid)["RssAnon"]]
    for _ in range(RECONNECTS):
        bench.purge()
        bench.control("close_all_connections", "bench")
        bench.fill("raw", count, routes=count)
        bench.await_results(worker, count, 60 + count)
        rows.append(memory(worker.pid)["RssAnon"])
    bench.leave(worker)
    print(f"\n{count} routes; RssAnon after their first jobs, then after each time that RabbitMQ closed all connections")
    print("  ".join(f"{value:.1f}" for value in rows) + " MiB", flush=True)
    if rows[-1] > rows[1] + RECONNECT_GROWTH:
        sys.exit(f"bench: RssAnon grew by {rows[-1] - rows[1]:.0f} MiB in {RECONNECTS - 1} reconnects")
    return {"RssAnon": rows}
