"""What the benchmarks share: processes and what they cost, a private RabbitMQ, local APNs, workers, jobs and results."""
import collections, json, os, random, re, shutil, signal, socket, struct, subprocess, sys, tempfile, threading, time, uuid
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
MARTLET = os.path.join(HERE, "../../.build/release/martlet")
RABBITMQ = "/usr/lib/rabbitmq/bin/"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(port, process, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            sys.exit(f"bench: {process.args[0]} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"bench: nothing answers on port {port}")


def cpu_seconds(pid):
    """User and system time, by the process's own clock: /proc has it in steps of 10 ms, too coarse for an idle one."""
    return time.clock_gettime(~pid << 3 | 2)  # what clock_getcpuclockid() gives for a process


# How often processes are looked at, in seconds, and below which part of a core they count as idle.
LOOK, IDLE = 0.02, 0.05


def until_idle(workers, others, done, seconds):
    """Waits until workers are done: the moment at which they had nothing more to do, and the CPU seconds of each process,
    workers first, at that moment. `done` asks the workers themselves, and is called only while they are idle: an answer costs
    a worker as much CPU as a hundred jobs do. None if they are not done in time."""
    pids = [*workers, *others]

    def look():
        return time.monotonic(), [cpu_seconds(pid) for pid in pids]

    until, earlier = time.monotonic() + seconds, look()
    latest = earlier
    while earlier[0] < until:
        time.sleep(LOOK)
        now = look()
        spent = sum(now[1][:len(workers)]) - sum(earlier[1][:len(workers)])
        if spent > IDLE * (now[0] - earlier[0]):
            latest = earlier = now
            continue
        if done():
            return latest
        earlier = look()
    return None


def samples(metrics, family):
    """One family of what /metrics says: labels and value of each sample."""
    lines = re.findall(rf"^{family}{{(.*)}} (\S+)$", metrics, re.MULTILINE)
    return [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)) for labels, value in lines]


def memory(pid):
    """MiB."""
    with open(f"/proc/{pid}/status") as f:
        text = f.read()
    return {k: int(re.search(rf"{k}:\s+(\d+)", text).group(1)) / 1024 for k in ("RssAnon", "VmRSS")}


def footprint(pid):
    """Memory, descriptors and threads."""
    return {**memory(pid), "descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": len(os.listdir(f"/proc/{pid}/task"))}


def highest_memory(pid):
    """The most that a process ever had resident, MiB: the kernel's own mark, which no look in between can miss."""
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1)) / 1024


def percentile(values, share):
    """The smallest value that this share of all is not above; NaN of none."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else float("nan")


def busiest(moments, window):
    """The most of sorted moments that lie within so many seconds."""
    recent, most = collections.deque(), 0
    for moment in moments:
        recent.append(moment)
        while recent[0] <= moment - window:
            recent.popleft()
        most = max(most, len(recent))
    return most


def slope(points):
    """What least squares make of (seconds, value): change per hour, and its standard error."""
    points = [p for p in points if p[1] == p[1]]
    n = len(points)
    if n < 3:
        return float("nan"), float("nan")
    mean_x, mean_y = (sum(column) / n for column in zip(*points))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    rise = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    rest = sum((y - mean_y - rise * (x - mean_x)) ** 2 for x, y in points)
    return rise * 3600, (rest / (n - 2) / spread) ** 0.5 * 3600


def grows(rise, error, limit):
    """Whether a slope passes a limit even where chance has twice its standard error of it; what has no slope does."""
    return not rise - 2 * error <= limit


def memory_directory(room):
    """A directory whose files are in memory, if it has room for so many bytes; nothing else."""
    try:
        free = os.statvfs("/dev/shm")
    except OSError:
        return None
    return "/dev/shm" if free.f_bavail * free.f_frsize >= room else None


class Stack:
    """A directory, the processes that work in it, and a broker; gone after stop()."""

    def __init__(self, martlet=MARTLET, place=None):
        self.martlet, self.processes, self.epmd = martlet, [], None
        self.directory = tempfile.mkdtemp(prefix="martlet-bench-", dir=place)
        self.amqp = free_port()
        # Ending by a signal cleans up like any other end.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: stopped"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def run(self, *command, **options):
        done = subprocess.run(command, text=True, capture_output=True, **options)
        if done.returncode:
            sys.exit(f"bench: {' '.join(command[:2])} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def start(self, name, command, **options):
        log = open(self.path(name + ".log"), "a")
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **options)
        self.processes.append(process)
        return process

    def end(self, process, seconds=20):
        """Lets a process end, and ends it where it does not."""
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def stop(self):
        for process in reversed(self.processes):
            self.end(process)
        if self.epmd:
            subprocess.run(["epmd", "-port", str(self.epmd), "-kill"], capture_output=True)
        shutil.rmtree(self.directory, ignore_errors=True)

    def new_key(self, name):
        self.run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", self.path(name))
        return self.path(name)

    # ---- the broker ----

    def start_broker(self, configuration, *, management=None):
        """A private RabbitMQ with what a worker of this configuration needs, and its management API where a port is given."""
        self.epmd = free_port()
        api = f"management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {management}\n" if management else ""
        self.write("rabbitmq.conf", f"listeners.tcp.local = 127.0.0.1:{self.amqp}\nlog.console = false\n{api}")
        self.write("plugins", "[rabbitmq_management].\n" if management else "[].\n")
        self.environment = dict(os.environ, HOME=self.directory, RABBITMQ_NODENAME=f"bench{os.getpid()}@localhost",
                                RABBITMQ_MNESIA_BASE=self.path("mnesia"), RABBITMQ_LOG_BASE=self.path("log"),
                                RABBITMQ_CONFIG_FILE=self.path("rabbitmq.conf"), RABBITMQ_DIST_PORT=str(free_port()),
                                RABBITMQ_ENABLED_PLUGINS_FILE=self.path("plugins"), ERL_EPMD_PORT=str(self.epmd),
                                ERL_EPMD_ADDRESS="127.0.0.1")
        broker = self.start("rabbitmq", [RABBITMQ + "rabbitmq-server"], env=self.environment)
        wait_for_port(self.amqp, broker)
        self.control("await_startup")
        self.declare(configuration)
        time.sleep(3)  # leaders of the quorum queues just declared

    def declare(self, configuration):
        self.write("definitions.json", self.run(self.martlet, "topology", "render", "--config", configuration))
        self.control("import_definitions", self.path("definitions.json"))

    def control(self, *command):
        return self.run(RABBITMQ + "rabbitmqctl", "-q", *command, env=self.environment)

    def broker_process(self):
        """The number of the process that does the broker's work; the one that was started waits for it."""
        return int(self.control("eval", "os:getpid().").strip().strip('"'))

    def depths(self):
        """How many messages each queue holds, ready or not. Streams keep what was read, such as workers' reports."""
        rows = self.control("list_queues", "--no-table-headers", "name", "messages", "type").split("\n")
        return {name: int(count) for name, count, kind in (row.split() for row in rows if row.strip()) if kind != "stream"}

    def depths_when(self, holds, seconds=30, meanwhile=lambda: time.sleep(1)):
        """How many messages each queue holds as soon as that is as it should be, or in the end; it counts late."""
        until = time.monotonic() + seconds
        while not holds(depths := self.depths()) and time.monotonic() < until:
            meanwhile()
        return depths

    def uri(self, user="guest"):
        return f"amqp://{user}:{user}@127.0.0.1:{self.amqp}/"

    def worker(self, configuration, *, name="worker", user="guest", martlet=None):
        """A worker whose name in results is its name here; of another version where that is given."""
        environment = dict(os.environ, MARTLET_INSTANCE=name, MARTLET_ADMIN_LISTEN=f"127.0.0.1:{free_port()}",
                           MARTLET_BROKER_URI=self.uri(user))
        return self.start(name, [martlet or self.martlet, "worker", "--config", configuration], env=environment)

    # ---- jobs and results ----

    def push(self, name, *options):
        """`martlet push` that reads jobs from its standard input; its confirms go to a file."""
        with open(self.path(name + ".jsonl"), "w") as out, open(self.path(name + ".log"), "w") as log:
            process = subprocess.Popen([self.martlet, "push", "--jobs", "-", "-o", "json", "--broker", self.uri(), *options],
                                       stdin=subprocess.PIPE, stdout=out, stderr=log)
        self.processes.append(process)
        return process

    def confirmed(self, name):
        """The numbers of the jobs that the broker confirmed to this push."""
        with open(self.path(name + ".jsonl")) as f:
            return [number_of(record["id"]) for record in map(json.loads, f) if record["state"] == "confirmed"]


def message_id(header):
    """What a content header frame says about its message's name; nothing where it has none."""
    flags, at = struct.unpack(">H", header[12:14])[0], 14
    # Content type and encoding, headers, delivery mode, priority, correlation id, reply-to and expiration come before.
    for bit, kind in zip(range(15, 7, -1), "sst11sss"):
        if flags >> bit & 1:
            at += 1 if kind == "1" else 1 + header[at] if kind == "s" else 4 + struct.unpack(">I", header[at:at + 4])[0]
    return header[at + 1:at + 1 + header[at]].decode() if flags >> 7 & 1 else None


class Results(threading.Thread):
    """Takes every result out of its queue as it comes, with the moment of its arrival in microseconds."""

    def __init__(self, stack, queue="apns.q.results"):
        super().__init__(daemon=True)
        self.arrived = collections.deque()
        socket_ = socket.create_connection(("127.0.0.1", stack.amqp), 10)
        socket_.settimeout(None)
        self.socket, self.input = socket_, socket_.makefile("rb", 1 << 18)
        socket_.sendall(b"AMQP\0\0\x09\x01")
        self.call(10, 11, struct.pack(">I", 0) + b"\x05PLAIN" + struct.pack(">I", 12) + b"\0guest\0guest" + b"\x05en_US", 30)
        self.send(0, struct.pack(">HHHIH", 10, 31, 1, 131072, 0))  # no heartbeat
        self.call(10, 40, b"\x01/\0\0", 41)
        self.call(20, 10, b"\0", 11)
        # Without acknowledgements: what is taken here is counted here.
        self.call(60, 20, struct.pack(">HB", 0, len(queue)) + queue.encode() + b"\0\x02" + struct.pack(">I", 0), 21)
        self.start()

    def send(self, channel, payload):
        self.socket.sendall(struct.pack(">BHI", 1, channel, len(payload)) + payload + b"\xce")

    def frame(self):
        kind, _, length = struct.unpack(">BHI", self.input.read(7))
        return kind, self.input.read(length + 1)[:-1]

    def call(self, family, method, arguments, expected):
        """Sends a method and reads until the answer."""
        self.send(0 if family == 10 else 1, struct.pack(">HH", family, method) + arguments)
        while struct.unpack(">HH", self.frame()[1][:4]) != (family, expected):
            pass

    def run(self):
        try:
            while True:
                kind, payload = self.frame()
                if kind == 2:
                    header, missing, body = payload, struct.unpack(">Q", payload[4:12])[0], b""
                    while len(body) < missing:
                        body += self.frame()[1]
                    self.arrived.append((time.time_ns() // 1000, header, body))
        except (OSError, struct.error):
            pass  # the broker is gone, as at the end

    def take(self):
        """Those that arrived since the last time, each with its latency from the writing of its job, in milliseconds."""
        if not self.is_alive():
            sys.exit("bench: the broker has ended the connection that takes results")
        while self.arrived:
            moment, header, body = self.arrived.popleft()
            result = {**json.loads(body), "message_id": message_id(header)}
            # A job whose body no worker has read has no reference in its result.
            yield result, (moment - int(result["reference"] or moment)) / 1000


class Answers:
    """Which statuses APNs answered each job with, in a byte for each; the highest bit says 200 more than once."""

    BITS = {200: 1, 400: 2, 410: 4, 413: 8, 429: 16, 500: 32, 503: 64}
    TWICE = 128

    def __init__(self):
        self.bits, self.accepted, self.misnamed = bytearray(), 0, 0

    def note(self, line):
        """A line `apns-id token status` of the local APNs' ledger; the id is the job's."""
        id, _, status = line.decode().split(" ")
        number, bit = number_of(id), self.BITS.get(int(status), 0)
        if number >= 1 << 28 or id[8:].lower() != ID:
            self.misnamed += 1
            return
        if number >= len(self.bits):
            self.bits.extend(bytes(number + 1 - len(self.bits) + 4096))
        if bit == 1:
            self.accepted += 1
            bit |= self.TWICE if self.bits[number] & 1 else 0
        self.bits[number] |= bit

    def has(self, number, status):
        return bool(self.bits[number] & self.BITS.get(status, 0)) if number < len(self.bits) else False


class LocalAPNs:
    """`martlet simulator` on ports that stay the same; its state directory, and so its authority, too."""

    def __init__(self, stack, name, *options):
        self.stack, self.name, self.options = stack, name, options
        self.port, self.admin = free_port(), free_port()
        self.key_id, self.key = name.upper().ljust(10, "0")[:10], stack.new_key(name + ".p8")
        self.process, self.seen, self.unseen = None, Answers(), []

    @property
    def url(self):
        return f"https://localhost:{self.port}"

    @property
    def authority(self):
        with open(os.path.join(self.stack.path(self.name), "ca.pem")) as f:
            return f.read()

    @property
    def credential(self):
        return f"{{ name: {self.name}, kind: token, key_file: \"{self.key}\", key_id: {self.key_id}, team_id: DEF7654321 }}"

    def start(self):
        # Its ports for devices and broadcast channels are any free ones, because the gateway's is not Apple's.
        self.process = self.stack.start(self.name, [
            self.stack.martlet, "simulator", "--port", str(self.port), "--admin-port", str(self.admin), "--state-directory",
            self.stack.path(self.name), "--key", f"{self.key_id}:DEF7654321:{self.key}", *self.options])
        wait_for_port(self.admin, self.process)
        if self.unseen:
            self.unseen[-1][1] = time.time() * 1000
        return self

    def kill(self):
        """Kills it. What it answered is read first; what it answered after that, until it is back, nobody knows."""
        self.unseen.append([time.time() * 1000, float("inf")])
        self.read()
        self.process.kill()
        self.process.wait()

    def read(self):
        """Adds what this life answered to what is seen; once in each life."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin}/ledger?format=compact")
        with urllib.request.urlopen(request, timeout=60) as lines:
            for line in lines:
                self.seen.note(line)
        if self.counts()["unlisted"]:
            sys.exit("bench: the local APNs has answered more than it lists: raise --ledger-limit")

    def saw(self, moment):
        """Whether what was answered at this moment, in milliseconds, was seen."""
        return not any(begin <= moment <= end for begin, end in self.unseen)

    def counts(self):
        return json.loads(self.ask("GET", "/counts"))

    def stop(self):
        self.stack.end(self.process)

    def ask(self, method, path, body=""):
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin}{path}", body.encode(), method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read()

    # How APNs can be dead for a route.
    KINDS = ("unreachable", "refused", "unavailable", "throttled")
    REASONS = {"unavailable": "ServiceUnavailable", "throttled": "TooManyRequests"}

    def die(self, kind):
        if kind == "unreachable":
            self.stop()
        elif kind == "refused":
            self.ask("POST", f"/keys/{self.key_id}/revoke")
        else:
            self.ask("POST", "/scenario", f"rules: [{{ match: {{ ratio: 1 }}, verdict: {{ reason: {self.REASONS[kind]} }} }}]\n")

    def revive(self, kind):
        if kind == "unreachable":
            self.start()
        elif kind == "refused":
            self.ask("POST", f"/keys/{self.key_id}/restore")
        else:
            self.ask("POST", "/scenario", "rules: []\n")


ID = "-14a8-41e5-b60b-1697f925ec7b"


def number_of(job_id):
    return int(job_id[:8], 16)


def job(number, topic, environment="development", prefix="7"):
    """A line for `martlet push`; its reference is the moment of writing, in microseconds."""
    token = prefix + f"{random.getrandbits(256):064x}"[len(prefix):]
    return (f'{{"id":"{number:08x}{ID}","device_token":"{token}","topic":"{topic}",'
            f'"environment":"{environment}","reference":"{time.time_ns() // 1000}",'
            f'"payload":{{"aps":{{"alert":{{"title":"Order shipped","body":"{"x" * 200}"}}}}}}}}\n').encode()


class SteadyLoad(threading.Thread):
    """Writes jobs to a push at an even rate until told to stop."""

    def __init__(self, push, rate, make, first=0):
        super().__init__(daemon=True)
        self.push, self.rate, self.make, self.first, self.next = push, rate, make, first, first
        self.stopping, self.error = threading.Event(), None

    def run(self):
        began = time.monotonic()
        try:
            while not self.stopping.wait(0.002):
                due = self.first + int((time.monotonic() - began) * self.rate)
                # A push that was held up is not made up for by a flood.
                if due - self.next > self.rate:
                    began += (due - self.next) / self.rate
                    due = self.next
                for number in range(self.next, due):
                    self.push.stdin.write(self.make(number))
                self.next = due
                self.push.stdin.flush()
            self.push.stdin.close()
        except OSError as error:
            self.error = error

    def finish(self):
        """Ends the load and waits until the broker has confirmed it."""
        self.stopping.set()
        self.join()
        if self.error or self.push.wait(120):
            sys.exit(f"bench: jobs cannot be published: {self.error or 'see the push'}")


class Books:
    """Which jobs the broker has confirmed, how many results each has got, and whether those can be true."""

    # Results are named after what they are about, so that who gets one twice knows.
    NAMES = uuid.UUID("268fde28-cb90-48d3-9071-c4bed60c6d28")
    QUEUES = {"dead_token": "apns.q.dead.tokens"}

    def __init__(self, allows=lambda number, result: True):
        self.allows = allows
        self.counts, self.explained, self.again, self.outcomes = {}, set(), set(), collections.Counter()
        # All that are not here were accepted: the statuses that the others were told, and those accepted unseen.
        self.refused, self.unseen, self.dead, self.misnamed, self.forbidden = {}, set(), {}, 0, collections.Counter()
        self.recent, self.pairs, self.same = collections.OrderedDict(), {}, 0

    # How many results are kept to be compared with a second one.
    RECENT = 100_000

    def note(self, result, *, seen=True):
        number, outcome = number_of(result["job_id"]), result["outcome"]
        if result == self.recent.get(number):
            # The very same message: its confirm was lost, so it was published again. Whoever dedupes never sees it.
            self.same += 1
            return
        if number in self.recent:
            self.pairs[number] = (self.recent[number], result)
        self.recent[number] = result
        if len(self.recent) > self.RECENT:
            self.recent.popitem(last=False)
        self.counts[number] = self.counts.get(number, 0) + 1
        name = " ".join(filter(None, (outcome, result["reason"])))
        self.outcomes[name] += 1
        # A push that came again says so; a retry's copy can outlive the job that it was made from.
        if result["redelivered"] or result.get("duplicate"):
            self.again.add(number)
        if number in self.again or result["attempt"] > 1:
            self.explained.add(number)
        if outcome != "accepted":
            self.refused[number] = result["status"] or 0
            self.dead.setdefault(self.QUEUES.get(outcome, "apns.q.dead"), set()).add(number)
        if not seen:
            self.unseen.add(number)
        expected = uuid.uuid5(self.NAMES, f"{result['job_id']}/{result['attempt']}/{result['index']}")
        self.misnamed += result["message_id"] != str(expected)
        if not self.allows(number, result):
            self.forbidden[f"{name}, attempt {result['attempt']}"] += 1

    def verdict(self, confirmed):
        """For people and for checks: what a balance needs."""
        confirmed = set(confirmed)
        twice = [number for number, count in self.counts.items() if count > 1]
        return {"confirmed": len(confirmed), "results": sum(self.counts.values()), "published again": self.same,
                "lost": len(confirmed - self.counts.keys()), "unexpected": len(self.counts.keys() - confirmed),
                "twice": len(twice), "twice, unexplained": sum(number not in self.explained for number in twice),
                "message_id wrong": self.misnamed, "outcome not the token's": sum(self.forbidden.values())}

    def compare(self, answers, depths):
        """The same against what APNs answered, and what the broker still holds."""
        accepted = len(self.counts) - len(self.refused)
        verdict = {"accepted by APNs": answers.accepted, "accepted": accepted, "apns-id wrong": answers.misnamed,
                   "pushed again, unexplained": 0, "made up": 0,
                   "left in queues": sum(count for queue, count in depths.items() if not queue.startswith("apns.q.dead"))}
        for number in range(len(answers.bits)):
            # Accepted twice, or accepted and nobody was told.
            if number not in self.explained and answers.has(number, 200):
                verdict["pushed again, unexplained"] += bool(answers.bits[number] & answers.TWICE) or number in self.refused
        for number in self.counts:
            status = self.refused.get(number, 200)
            verdict["made up"] += bool(status) and number not in self.unseen and not answers.has(number, status)
        for queue in ("apns.q.dead", "apns.q.dead.tokens"):
            numbers = self.dead.get(queue, set())
            verdict[queue], verdict[f"{queue}, missing"] = depths[queue], max(0, len(numbers) - depths[queue])
            # A worker that died between dead letter and result leaves one more.
            verdict[f"{queue}, too many"] = max(0, depths[queue] - len(numbers) - len(numbers & self.again))
        return verdict

    BREACHES = ("lost", "unexpected", "unexplained", "wrong", "not the token's", "made up", "left in queues", "missing", "too many")

    @classmethod
    def breaches(cls, verdict):
        """What of a verdict must be nothing and is not, as text."""
        return ", ".join(f"{name} {count}" for name, count in verdict.items() if count and name.endswith(cls.BREACHES))

    def text(self, verdict):
        return (", ".join(f"{name} {count}" for name, count in verdict.items()) + "\n"
                + ", ".join(f"{outcome} {count}" for outcome, count in self.outcomes.most_common())
                + "".join(f"\nnot as the token says: {outcome} {count}" for outcome, count in self.forbidden.most_common(20))
                + "".join(f"\ntwice, unexplained: {first}\n               and: {second}" for first, second in
                          [pair for number, pair in self.pairs.items() if number not in self.explained][:20]))
