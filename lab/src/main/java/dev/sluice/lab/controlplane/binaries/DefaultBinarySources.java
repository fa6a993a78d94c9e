package dev.sluice.lab.controlplane.binaries;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The default chain of sources. */
public final class DefaultBinarySources {

  /** The environment variable with a directory of programs. */
  public static final String DIRECTORY_VARIABLE = "SLUICE_CONTROL_PLANE_BINARIES";

  /** The environment variable with a minor version of Kubernetes, such as {@code 1.29}. */
  public static final String KUBERNETES_VARIABLE = "SLUICE_CONTROL_PLANE_KUBERNETES";

  private DefaultBinarySources() {}

  /**
   * In order: the directory that the user names, the local cache, the official releases, a build
   * from Go modules.
   *
   * @param directory directory from the command line; if empty, the environment variable {@link
   *     #DIRECTORY_VARIABLE} is used
   * @param environment {@link #KUBERNETES_VARIABLE} chooses another version of Kubernetes
   * @throws IllegalArgumentException if nothing pins that version
   */
  public static BinarySourceChain standard(
      Optional<Path> directory,
      Map<String, String> environment,
      InstantSource clock,
      Progress progress) {
    ModuleFiles modules = new ModuleFiles(environment.getOrDefault(KUBERNETES_VARIABLE, ""));
    Platform platform = Platform.current();
    BinaryCache cache =
        new BinaryCache(BinaryCache.defaultRoot(environment), modules, platform, progress);
    List<BinarySource> sources = new ArrayList<>();
    directory
        .or(() -> named(environment))
        .ifPresent(named -> sources.add(new DirectorySource(named)));
    sources.add(cache);
    sources.add(
        cache.filledBy(
            new ReleaseDownloader(
                modules, platform, ReleaseDownloader.Sites.official(), progress)));
    sources.add(
        cache.filledBy(
            new GoModuleBuilder(
                modules, GoModuleBuilder.searchPath(environment), clock, progress)));
    return new BinarySourceChain(sources, progress);
  }

  private static Optional<Path> named(Map<String, String> environment) {
    String directory = environment.getOrDefault(DIRECTORY_VARIABLE, "");
    return directory.isEmpty() ? Optional.empty() : Optional.of(Path.of(directory));
  }

  /** Tries sources in order, for each bundle, until one provides it. */
  public static final class BinarySourceChain {

    private final List<BinarySource> sources;
    private final Progress progress;

    /**
     * Creates a chain.
     *
     * @param sources the sources, in order
     */
    public BinarySourceChain(List<BinarySource> sources, Progress progress) {
      this.sources = List.copyOf(sources);
      this.progress = progress;
    }

    /**
     * Obtains all programs of a control plane. Reports each failed source with its reason to the
     * progress.
     *
     * @throws BinariesMissingException when no source provides a bundle, with all reasons
     * @throws InterruptedException when the calling thread is interrupted
     */
    public Binaries obtain() throws BinariesMissingException, InterruptedException {
      Map<Bundle, Path> directories = new EnumMap<>(Bundle.class);
      for (Bundle bundle : Bundle.values()) {
        directories.put(bundle, obtain(bundle));
      }
      return new Binaries(directories);
    }

    private Path obtain(Bundle bundle) throws BinariesMissingException, InterruptedException {
      List<String> reasons = new ArrayList<>();
      for (BinarySource source : sources) {
        try {
          return source.obtain(bundle);
        } catch (SourceFailedException e) {
          String reason = source.name() + ": " + e.getMessage();
          reasons.add(reason);
          progress.say("no " + bundle.title() + " from " + reason);
        }
      }
      throw new BinariesMissingException(bundle, reasons);
    }
  }

  /**
   * Cache of downloaded or built bundles, one directory per bundle, version and platform. A
   * directory appears atomically, and only one process at a time fills it.
   */
  public static final class BinaryCache implements BinarySource {

    /** Locks within this process, by lock file; shared by all caches of the process. */
    private static final Map<Path, Lock> IN_USE = new ConcurrentHashMap<>();

    private final Path root;
    private final ModuleFiles modules;
    private final Platform platform;
    private final Progress progress;

    /** Uses the directory {@code root}, which is created on demand. */
    public BinaryCache(Path root, ModuleFiles modules, Platform platform, Progress progress) {
      this.root = root;
      this.modules = modules;
      this.platform = platform;
      this.progress = progress;
    }

    /**
     * The default directory: {@code $XDG_CACHE_HOME/sluice/control-plane}, or {@code
     * ~/.cache/sluice/control-plane}.
     */
    public static Path defaultRoot(Map<String, String> environment) {
      String cache = environment.getOrDefault("XDG_CACHE_HOME", "");
      Path home =
          cache.isEmpty() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(cache);
      return home.resolve("sluice").resolve("control-plane");
    }

    @Override
    public String name() {
      return "cache " + root;
    }

    @Override
    public Path obtain(Bundle bundle) throws SourceFailedException {
      Path directory = directory(bundle);
      if (!isWhole(bundle, directory)) {
        throw new SourceFailedException("has no " + directory.getFileName());
      }
      return directory;
    }

    /** A source that builds missing bundles and stores them in this cache. */
    public BinarySource filledBy(BundleBuilder maker) {
      return new BinarySource() {
        @Override
        public String name() {
          return maker.name();
        }

        @Override
        public Path obtain(Bundle bundle) throws SourceFailedException, InterruptedException {
          return fill(bundle, maker);
        }
      };
    }

    private Path fill(Bundle bundle, BundleBuilder maker)
        throws SourceFailedException, InterruptedException {
      Path directory = directory(bundle);
      Path lockFile = root.resolve(directory.getFileName() + ".lock");
      Lock ofProcess = lockOfProcess(lockFile, bundle);
      try {
        Files.createDirectories(root);
        try (FileChannel channel =
                FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = lock(channel, bundle)) {
          assert lock.isValid();
          if (!isWhole(bundle, directory)) {
            make(bundle, maker, directory);
          }
        }
      } catch (IOException e) {
        throw new SourceFailedException("can't write the cache: " + e, e);
      } finally {
        ofProcess.unlock();
      }
      return directory;
    }

    /** A file lock excludes other processes, but not other threads of this process. */
    private Lock lockOfProcess(Path lockFile, Bundle bundle) throws InterruptedException {
      Lock lock =
          IN_USE.computeIfAbsent(
              lockFile.toAbsolutePath().normalize(), file -> new ReentrantLock());
      if (!lock.tryLock()) {
        progress.say("waiting for another thread that fetches or builds " + bundle.title());
        lock.lockInterruptibly();
      }
      return lock;
    }

    private FileLock lock(FileChannel channel, Bundle bundle) throws IOException {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return lock;
      }
      progress.say("waiting for another process that fetches or builds " + bundle.title());
      return channel.lock();
    }

    private void make(Bundle bundle, BundleBuilder maker, Path directory)
        throws IOException, SourceFailedException, InterruptedException {
      String prefix = directory.getFileName() + ".part-";
      removeLeftOvers(prefix);
      Path part = Files.createTempDirectory(root, prefix);
      try {
        maker.make(bundle, part);
        List<String> missing = DirectorySource.missing(bundle, part);
        if (!missing.isEmpty()) {
          throw new SourceFailedException("made no " + String.join(", ", missing));
        }
        DirectoryTree.delete(directory);
        Files.move(part, directory, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        DirectoryTree.delete(part);
      }
    }

    /** Removes remains of a process that was killed while it held the lock. */
    private void removeLeftOvers(String prefix) throws IOException {
      try (var entries = Files.newDirectoryStream(root, prefix + "*")) {
        for (Path entry : entries) {
          DirectoryTree.delete(entry);
        }
      }
    }

    private Path directory(Bundle bundle) {
      return root.resolve(bundle.title() + "-" + modules.version(bundle) + "-" + platform);
    }

    private static boolean isWhole(Bundle bundle, Path directory) {
      return DirectorySource.missing(bundle, directory).isEmpty();
    }
  }

  /** A directory that the user named and that contains all programs. */
  static final class DirectorySource implements BinarySource {

    private final Path directory;

    /** Uses the given directory, which need not exist. */
    public DirectorySource(Path directory) {
      this.directory = directory;
    }

    @Override
    public String name() {
      return "directory " + directory;
    }

    @Override
    public Path obtain(Bundle bundle) throws SourceFailedException {
      if (!Files.isDirectory(directory)) {
        throw new SourceFailedException("there is no such directory");
      }
      List<String> missing = missing(bundle, directory);
      if (!missing.isEmpty()) {
        throw new SourceFailedException(
            "has no executable file named " + String.join(", ", missing));
      }
      return directory.toAbsolutePath();
    }

    /** The files of the bundle that are missing or not executable. */
    static List<String> missing(Bundle bundle, Path directory) {
      return bundle.programs().stream()
          .map(Program::file)
          .filter(file -> !Files.isExecutable(directory.resolve(file)))
          .toList();
    }
  }

  /** Builds a bundle from its published Go modules, if a Go tool chain is installed. */
  static final class GoModuleBuilder implements BundleBuilder {

    private static final Duration REPORT_INTERVAL = Duration.ofSeconds(15);
    private static final int KEPT_LINES = 12;

    private final ModuleFiles modules;
    private final List<Path> searchPath;
    private final InstantSource clock;
    private final Progress progress;

    /** Creates a builder that searches {@code go} in the given directories, in order. */
    public GoModuleBuilder(
        ModuleFiles modules, List<Path> searchPath, InstantSource clock, Progress progress) {
      this.modules = modules;
      this.searchPath = List.copyOf(searchPath);
      this.clock = clock;
      this.progress = progress;
    }

    /** The directories of an environment's PATH, then the one that Go's installer uses. */
    public static List<Path> searchPath(Map<String, String> environment) {
      List<Path> directories = new ArrayList<>();
      for (String entry : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
        if (!entry.isEmpty()) {
          directories.add(Path.of(entry));
        }
      }
      directories.add(Path.of("/usr/local/go/bin"));
      return List.copyOf(directories);
    }

    @Override
    public String name() {
      return "build from Go modules";
    }

    @Override
    public void make(Bundle bundle, Path emptyDirectory)
        throws SourceFailedException, InterruptedException {
      Path go =
          go().orElseThrow(
                  () ->
                      new SourceFailedException(
                          "there is no Go tool chain (no \"go\" on the PATH)"));
      Instant begin = clock.instant();
      progress.say(
          "building %s %s from its Go modules; this takes minutes, once"
              .formatted(bundle.title(), modules.version(bundle)));
      try {
        build(go, bundle, emptyDirectory.toAbsolutePath(), begin);
      } catch (IOException e) {
        throw new SourceFailedException("can't run " + go + ": " + e.getMessage(), e);
      }
      progress.say("built %s in %s".formatted(bundle.title(), since(begin)));
    }

    private void build(Path go, Bundle bundle, Path target, Instant begin)
        throws IOException, SourceFailedException, InterruptedException {
      Path work = Files.createTempDirectory("sluice-control-plane-");
      try {
        modules.copyTo(bundle, work);
        ProcessBuilder builder = new ProcessBuilder(command(go, bundle, target));
        builder.directory(work.toFile()).redirectErrorStream(true);
        isolate(builder.environment());
        Process process = builder.start();
        process.getOutputStream().close();
        try {
          Deque<String> tail = follow(process, bundle, begin);
          int code = process.waitFor();
          if (code != 0) {
            throw new SourceFailedException(
                "go build ended with %d: %s".formatted(code, String.join(" | ", tail)));
          }
        } finally {
          process.destroy();
        }
      } finally {
        DirectoryTree.delete(work);
      }
    }

    /** Reads the output of the build until it ends; returns its last lines. */
    private Deque<String> follow(Process process, Bundle bundle, Instant begin) throws IOException {
      Deque<String> tail = new ArrayDeque<>();
      Instant reported = begin;
      int packages = 0;
      try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
          packages += line.contains(" ") ? 0 : 1;
          tail.addLast(line);
          if (tail.size() > KEPT_LINES) {
            tail.removeFirst();
          }
          Instant now = clock.instant();
          if (Duration.between(reported, now).compareTo(REPORT_INTERVAL) >= 0) {
            reported = now;
            progress.say(
                "building %s: %d packages in %s".formatted(bundle.title(), packages, since(begin)));
          }
        }
      }
      return tail;
    }

    private List<String> command(Path go, Bundle bundle, Path target) {
      List<Program> programs = bundle.programs();
      // With one package the output is a file, because Go would name it after the import path.
      String output = programs.size() == 1 ? "/" + programs.getFirst().file() : "/";
      List<String> command = new ArrayList<>();
      command.addAll(List.of(go.toString(), "build", "-v", "-trimpath", "-mod=readonly"));
      command.addAll(List.of("-buildvcs=false", "-ldflags", linkerFlags(bundle)));
      if (bundle == Bundle.KUBERNETES) {
        // versions before 1.31 have clients of clouds in them, which take a fifth of the build
        command.add("-tags=providerless");
      }
      command.addAll(List.of("-o", target + output));
      programs.forEach(program -> command.add(program.mainPackage()));
      return command;
    }

    /** Linker flags: omit symbols and stamp versions, as upstream's own build does. */
    private String linkerFlags(Bundle bundle) {
      String version = modules.version(bundle);
      StringBuilder flags = new StringBuilder("-s -w");
      switch (bundle) {
        case KUBERNETES -> {
          String[] parts = version.substring(1).split("\\.", -1);
          for (String where :
              List.of("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")) {
            flags.append(" -X ").append(where).append(".gitVersion=").append(version);
            flags.append(" -X ").append(where).append(".gitMajor=").append(parts[0]);
            flags.append(" -X ").append(where).append(".gitMinor=").append(parts[1]);
            flags.append(" -X ").append(where).append(".gitTreeState=archive");
          }
        }
        case KWOK -> flags.append(" -X sigs.k8s.io/kwok/pkg/consts.Version=").append(version);
        case ETCD -> {
          // etcd carries its version in its source
        }
      }
      return flags.toString();
    }

    private static void isolate(Map<String, String> environment) {
      environment.keySet().removeAll(List.of("GOFLAGS", "GOOS", "GOARCH", "GOBIN", "GO111MODULE"));
      environment.put("GOWORK", "off");
      environment.put("CGO_ENABLED", "0");
    }

    private Optional<Path> go() {
      return searchPath.stream()
          .map(directory -> directory.resolve("go"))
          .filter(Files::isExecutable)
          .findFirst();
    }

    private String since(Instant begin) {
      Duration took = Duration.between(begin, clock.instant());
      return "%dm%02ds".formatted(took.toMinutes(), took.toSecondsPart());
    }
  }

  /** Produces a bundle's programs, by download or build. */
  public interface BundleBuilder {

    /** The builder's name in messages. */
    String name();

    /**
     * Writes every program of the bundle into an empty directory.
     *
     * @throws SourceFailedException with the reason; the caller discards the directory
     * @throws InterruptedException when the calling thread is interrupted
     */
    void make(Bundle bundle, Path emptyDirectory)
        throws SourceFailedException, InterruptedException;
  }

  /**
   * An operating system and a processor architecture, by the names that Go gives them.
   *
   * @param os such as {@code linux}
   * @param arch such as {@code amd64}
   */
  public record Platform(String os, String arch) {

    /** The platform this Java process runs on. */
    public static Platform current() {
      return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
    }

    static Platform of(String osName, String osArch) {
      String os = osName.toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : firstWord(osName);
      String arch =
          switch (osArch) {
            case "x86_64" -> "amd64";
            case "aarch64" -> "arm64";
            default -> osArch;
          };
      return new Platform(os, arch);
    }

    private static String firstWord(String osName) {
      int end = osName.indexOf(' ');
      return (end < 0 ? osName : osName.substring(0, end)).toLowerCase(Locale.ROOT);
    }

    /** For example {@code linux-amd64}. */
    @Override
    public String toString() {
      return os + "-" + arch;
    }
  }

  /** A source of the programs of a bundle. */
  public interface BinarySource {

    /** The source's name in messages, such as {@code official release}. */
    String name();

    /**
     * The directory with every program of the bundle, executable.
     *
     * @throws SourceFailedException with the reason, when this source cannot provide the bundle
     * @throws InterruptedException when the calling thread is interrupted
     */
    Path obtain(Bundle bundle) throws SourceFailedException, InterruptedException;
  }

  /** Listener for progress of long operations, one line at a time. */
  @FunctionalInterface
  public interface Progress {

    /** Shows one line, given without a line break, to the user. */
    void say(String line);

    /** Writes each line to the process's error stream. */
    static Progress onStandardError() {
      return line -> System.err.println("control-plane: " + line);
    }
  }

  /** A source cannot provide a bundle; the message is the reason, for users. */
  public static final class SourceFailedException extends Exception {

    private static final long serialVersionUID = 1L;

    /** With the reason as a phrase that follows "source: ". */
    public SourceFailedException(String reason) {
      super(reason);
    }

    /** With the reason and its cause. */
    public SourceFailedException(String reason, Throwable cause) {
      super(reason, cause);
    }
  }

  /** Deletes directories recursively. */
  public static final class DirectoryTree {

    private DirectoryTree() {}

    /** Deletes the directory; a missing directory is not an error. */
    public static void delete(Path directory) throws IOException {
      Files.walkFileTree(directory, new Remover());
    }

    private static final class Remover extends SimpleFileVisitor<Path> {

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
          throws IOException {
        Files.deleteIfExists(file);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
        if (failure instanceof NoSuchFileException) {
          return FileVisitResult.CONTINUE;
        }
        throw failure;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
          throws IOException {
        if (failure != null) {
          throw failure;
        }
        Files.deleteIfExists(directory);
        return FileVisitResult.CONTINUE;
      }
    }
  }
}
