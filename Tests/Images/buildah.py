"""Builds docker/Dockerfile and runs what came out of it without a daemon: buildah with chroot isolation, as root."""
import glob, json, os, shutil, subprocess, sys

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
WORK = os.path.join(TOP, ".build/images")
BUILDAH = ("buildah", "--storage-driver", "vfs", "--root", os.path.join(WORK, "storage"), "--runroot", os.path.join(WORK, "run"))
DEBIAN, SWIFT, MARTLET = "localhost/debian", "localhost/swift", "localhost/martlet"
# What the public image with a Swift toolchain has beside it, as far as a build needs that.
TOOLS = ("binutils", "ca-certificates", "gcc", "git", "libc6-dev", "libcurl4-openssl-dev", "libedit-dev", "libncurses-dev",
         "libsqlite3-dev", "libstdc++-12-dev", "libxml2-dev", "uuid-dev")
# What a slim image leaves out.
SUPERFLUOUS = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "var/lib/apt/lists", "var/cache/apt")


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout.strip()


def buildah(*arguments, **options):
    return run(*BUILDAH, *arguments, **options)


def exists(image):
    return subprocess.run([*BUILDAH, "inspect", "--type", "image", image], capture_output=True).returncode == 0


def toolchain():
    """The prefix of the toolchain that this machine builds with."""
    return os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swift"))))


def make_debian():
    """A Debian like debian:bookworm-slim, with the packages of this machine's sources."""
    root = os.path.join(WORK, "debian")
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root], check=True, stdout=subprocess.DEVNULL)
    # As this machine reaches its packages.
    for name in ("sources.list", "sources.list.d", "apt.conf.d"):
        place = os.path.join("/etc/apt", name)
        if os.path.isdir(place):
            shutil.copytree(place, os.path.join(root, "etc/apt", name), dirs_exist_ok=True)
        elif os.path.exists(place):
            shutil.copy(place, os.path.join(root, "etc/apt", name))
        elif name == "sources.list":
            open(os.path.join(root, "etc/apt", name), "w").close()
    for place in SUPERFLUOUS:
        shutil.rmtree(os.path.join(root, place), ignore_errors=True)
    with open(os.path.join(root, "etc/dpkg/dpkg.cfg.d/slim"), "w") as f:
        f.write("".join(f"path-exclude /{place}/*\n" for place in SUPERFLUOUS if place.startswith("usr")))
    container = buildah("from", "scratch")
    buildah("add", "--quiet", container, root, "/")
    buildah("commit", "--quiet", "--rm", container, DEBIAN)
    shutil.rmtree(root)


def make_swift():
    """A Debian with what builds Swift; the toolchain is mounted when it is used."""
    container = buildah("from", DEBIAN)
    for command in (["apt-get", "-q", "update"], ["apt-get", "-q", "-y", "--no-install-recommends", "install", *TOOLS]):
        buildah("run", "--isolation", "chroot", "--env", "DEBIAN_FRONTEND=noninteractive", container, "--", *command)
    buildah("config", "--env", f"PATH={toolchain()}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", container)
    buildah("commit", "--quiet", "--rm", container, SWIFT)


def make_bases():
    """The images that the Dockerfile begins with."""
    for image, make in ((DEBIAN, make_debian), (SWIFT, make_swift)):
        if not exists(image):
            make()


def build():
    """The image. Dependencies are those that this machine has; nothing of the Dockerfile is left out for that."""
    here, there = os.path.join(TOP, ".build"), os.path.join(WORK, "build")
    os.makedirs(there, exist_ok=True)
    for name in ("checkouts", "repositories", "workspace-state.json"):
        run("cp", "--archive", "--update", os.path.join(here, name), there)
    buildah("bud", "--isolation", "chroot", "--format", "docker", "--layers=false", "--pull-never",
            "--build-arg", f"SWIFT_IMAGE={SWIFT}", "--build-arg", f"DEBIAN_IMAGE={DEBIAN}",
            "--volume", f"{toolchain()}:{toolchain()}:ro", "--volume", f"{there}:/martlet/.build",
            "--file", os.path.join(TOP, "docker/Dockerfile"), "--tag", MARTLET, TOP, stderr=sys.stderr)
    return configuration()


def configuration():
    """What the image says about how it is run."""
    return json.loads(buildah("inspect", "--type", "image", MARTLET))["Docker"]["config"]


class Container:
    """A container of an image; gone after remove()."""

    def __init__(self, image=MARTLET, volumes=(), user=None, hosts=()):
        names = [word for host in hosts for word in ("--add-host", host)]
        self.name = buildah("from", "--pull-never", *names, image)
        self.volumes, self.user, self.processes = volumes, user, []
        self.root = buildah("mount", self.name)

    def command(self, arguments, environment={}):
        volumes = [word for volume in self.volumes for word in ("--volume", volume)]
        variables = [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
        user = ["--user", self.user] if self.user else []
        return [*BUILDAH, "run", "--isolation", "chroot", *volumes, *variables, *user, self.name, "--", *arguments]

    def run(self, arguments, environment={}, **options):
        return subprocess.run(self.command(arguments, environment), text=True, capture_output=True, **options)

    def start(self, arguments, log, environment={}):
        process = subprocess.Popen(self.command(arguments, environment), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def size(self):
        """Bytes of all its files."""
        return sum(os.lstat(os.path.join(place, name)).st_size for place, _, names in os.walk(self.root) for name in names)

    def remove(self):
        buildah("umount", self.name)
        buildah("rm", self.name)


def children(pid):
    """A process and everything it started, with the program that each runs."""
    found = []
    for place in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            for child in open(place).read().split():
                found += [(int(child), os.readlink(f"/proc/{child}/exe")), *children(int(child))]
        except OSError:
            pass  # it has ended meanwhile
    return found
