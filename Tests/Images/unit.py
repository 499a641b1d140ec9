"""Runs config/systemd/martlet@.service as Deploying.md says, under a systemd of its own in namespaces of its own, as root."""
import os, re, shutil, signal, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Benchmark"))
from stack import MARTLET, LocalAPNs, Stack, free_port

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TOPIC, TOKEN = "com.example.shop", "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
# The first process of the namespaces: makes what systemd expects of a container, and becomes systemd.
# https://systemd.io/CONTAINER_INTERFACE/
BOOT = r"""set -e
hostname host1
ip link set lo up
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs tmpfs dev/shm
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
else
    mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
    mkdir sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
    # No room for the controllers: their groups are this machine's, too.
    mount -o remount,ro sys/fs/cgroup
fi
mkdir -p mnt/old
pivot_root . mnt/old
exec env -i container=martlet-test PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c \
    'umount -l /mnt/old; exec /lib/systemd/systemd systemd.unit=multi-user.target'
"""


def image_packages():
    with open(os.path.join(TOP, "config/packages.txt")) as f:
        return [words[1] for words in map(str.split, f) if words[:1] == ["image"]]


class Machine:
    """A Debian that systemd has booted."""

    def __init__(self, root):
        self.root = root
        base = "/sys/fs/cgroup" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "/sys/fs/cgroup/systemd"
        self.group = os.path.join(base, f"martlet-test-{os.getpid()}")
        self.process = self.pid = None

    def install(self):
        """A small Debian with systemd, and Martlet as `make install` puts it there."""
        packages = ["systemd", "systemd-sysv", "procps", *image_packages()]
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", "bookworm", self.root],
                       check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(self.root, "etc/hosts"), "w") as f:
            f.write("127.0.0.1 localhost host1\n")
        subprocess.run(["make", "install", f"DESTDIR={self.root}", "PREFIX=/usr/local"], check=True, cwd=TOP,
                       stdout=subprocess.DEVNULL)

    def boot(self):
        os.mkdir(self.group)
        join = f'echo $$ >{self.group}/cgroup.procs; exec "$@"'
        self.process = subprocess.Popen(
            ["sh", "-c", join, "sh", "unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount", "--uts", "--ipc",
             "--cgroup", "--net", "sh", "-c", BOOT, "sh", self.root],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as f:
                self.pid = next(iter(f.read().split()), None)
            if self.pid and self.run("systemctl", "is-system-running").stdout.strip() == "running":
                return True
            time.sleep(0.2)
        return False

    def run(self, *command):
        namespaces = ["--pid", "--mount", "--uts", "--ipc", "--cgroup", "--net"]
        return subprocess.run(["nsenter", "-t", self.pid, *namespaces, *command], text=True, capture_output=True)

    def shown(self, unit, *names):
        said = self.run("systemctl", "show", unit, *(f"--property={name}" for name in names)).stdout
        return dict(line.split("=", 1) for line in said.split("\n") if line)

    def log(self, unit):
        return self.run("journalctl", "--no-pager", "--output=cat", "--unit", unit).stdout

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        # Its processes end a moment later.
        until(self.remove_groups, 10)

    def remove_groups(self):
        for place, _, _ in os.walk(self.group, topdown=False):
            try:
                os.rmdir(place)
            except OSError:
                return False
        return True


class Services(Stack):
    """The broker and the local APNs that the workers of the machine talk to, in the machine's network."""

    def prepare(self, root):
        apns = LocalAPNs(self, "apns").start()
        configuration = f"""
broker: {{ uri: "{self.uri()}" }}
apns: {{ development: "{apns.url}", trust_file: "{self.path('apns')}/ca.pem" }}
credentials:
  - {apns.credential}
routes:
  - {{ name: shop, environment: development, topics: [{TOPIC}], credential: apns }}
"""
        self.start_broker(self.write("martlet.yaml", configuration))
        # The same on the machine, where files stand elsewhere.
        directory = os.path.join(root, "etc/martlet")
        os.makedirs(directory)
        for path in set(re.findall(re.escape(self.directory) + r"[^\s,\"}]+", configuration)):
            shutil.copy(path, directory)
            configuration = configuration.replace(path, "/etc/martlet/" + os.path.basename(path))
        with open(os.path.join(directory, "martlet.yaml"), "w") as f:
            f.write(configuration)


def until(holds, seconds):
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.5)
    return held


def try_unit(machine, services, check):
    run, shown = machine.run, machine.shown
    first, second = "martlet@1", "martlet@2"
    for command in (["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "martlet"],
                    ["sh", "-c", "chgrp -R martlet /etc/martlet; chmod 750 /etc/martlet; chmod 640 /etc/martlet/*"]):
        check(run(*command).returncode == 0, f"{command[0]} works")
    checked = run("setpriv", "--reuid=martlet", "--regid=martlet", "--clear-groups", "martlet", "check", "--offline",
                  "--config", "/etc/martlet/martlet.yaml")
    check(checked.returncode == 0, f"the worker's user may read its configuration {checked.stderr.strip()}")
    end = run("systemctl", "enable", "--now", first, second)
    both = [shown(unit, "ActiveState", "StatusText") for unit in (first, second)]
    check(end.returncode == 0 and all(one["ActiveState"] == "active" for one in both), f"two instances start {both}")
    ready = [until(lambda: shown(unit, "StatusText")["StatusText"] == "ready", 30) for unit in (first, second)]
    check(all(ready), "systemd shows that they are ready")
    push = subprocess.run([MARTLET, "push", TOKEN, "--topic", TOPIC, "--environment", "development", "--alert", "Shipped",
                           "--wait", "--broker", services.uri()], text=True, capture_output=True)
    check(push.returncode == 0 and "accepted" in push.stdout, f"a push is accepted {push.stderr.strip()}")
    health = [run("martlet", "health", "--ready", "--address", f"127.0.0.{number}:9464").returncode for number in (1, 2)]
    check(health == [0, 0], f"each answers at an address of its own {health}")

    end = run("systemctl", "reload", first)
    check(end.returncode == 0 and until(lambda: "the configuration was read again" in machine.log(first), 10),
          "systemctl reload makes it read its configuration")
    end = run("systemctl", "restart", second)
    check(end.returncode == 0 and until(lambda: shown(second, "StatusText")["StatusText"] == "ready", 30),
          "systemctl restart returns, and the new one is ready")
    run("systemctl", "kill", "--signal=SIGKILL", second)
    check(until(lambda: shown(second, "NRestarts", "ActiveState") == {"NRestarts": "1", "ActiveState": "active"}, 30),
          "one that is killed is started again")
    run("systemctl", "kill", "--signal=SIGSTOP", first)
    check(until(lambda: shown(first, "NRestarts", "ActiveState") == {"NRestarts": "1", "ActiveState": "active"}, 90)
          and "Watchdog timeout" in machine.log(first), "one that stands still is replaced by the watchdog")

    run("systemctl", "stop", first)
    end = shown(first, "ActiveState", "Result", "ExecMainStatus")
    check(end == {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"}, f"systemctl stop ends it well {end}")
    check("worker stopped" in machine.log(first), "and it says so in the journal")
    with open(os.path.join(machine.root, "etc/martlet/martlet.yaml"), "a") as f:
        f.write("lanse: 3\n")
    end = run("systemctl", "restart", second)
    time.sleep(5)  # longer than RestartSec
    state = shown(second, "ActiveState", "ExecMainStatus", "NRestarts")
    check(end.returncode != 0 and state == {"ActiveState": "failed", "ExecMainStatus": "78", "NRestarts": "0"},
          f"a wrong configuration ends it for good {state}")
    check('"lanes"' in machine.log(second), "and the journal says what is wrong")


def static_executable(check):
    """Builds an executable for other machines, as the page says."""
    for target in ("build", "manual"):
        subprocess.run(["make", target, "SWIFT_FLAGS=--static-swift-stdlib"], cwd=TOP, check=True, stdout=sys.stderr)
    needed = subprocess.run(["readelf", "-d", MARTLET], text=True, capture_output=True).stdout
    check("NEEDED" in needed and "libswift" not in needed, "the executable needs no Swift where it runs")


def run_part(check):
    """The part of `run`, in a process whose namespaces are this machine's."""
    static_executable(check)
    directory = tempfile.mkdtemp(prefix="martlet-unit-")
    machine = Machine(os.path.join(directory, "root"))
    try:
        machine.install()
        check(machine.boot(), "systemd boots, and nothing of it fails")
        # Only a process of the machine's network reaches its broker.
        here = subprocess.run(["nsenter", "-t", machine.pid, "--net", sys.executable, os.path.abspath(__file__),
                               machine.root, machine.pid])
        check(here.returncode == 0, "the unit does what the page says")
    finally:
        machine.close()
        shutil.rmtree(directory, ignore_errors=True)


def main():
    failed = []

    def check(holds, text):
        print(f"{'ok' if holds else 'FAILED':7} {text}", flush=True)
        if not holds:
            failed.append(text)

    machine, services = Machine(sys.argv[1]), Services()
    machine.pid = sys.argv[2]
    try:
        services.prepare(machine.root)
        try_unit(machine, services, check)
        if failed:
            print(machine.log("martlet@*"))
    finally:
        services.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
