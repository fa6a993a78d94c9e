package dev.sluice.lab.controlplane.binaries;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

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
}
