package dev.sluice.lab.controlplane.binaries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.BinaryCache;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.BinarySource;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.BundleBuilder;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.Platform;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.SourceFailedException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cache keeps whole bundles only, and has each made once. */
class BinaryCacheTest {

  private static final Platform PLATFORM = new Platform("linux", "amd64");

  @TempDir private Path root = Path.of("");
  private final ModuleFiles modules = new ModuleFiles();
  private final List<String> said = new CopyOnWriteArrayList<>();
  private final AtomicInteger made = new AtomicInteger();
  private BinaryCache cache = cache();

  @BeforeEach
  void setUp() {
    cache = cache();
  }

  @Test
  void anEmptyCacheSaysWhatItLacks() {
    assertThatThrownBy(() -> cache.obtain(Bundle.ETCD))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("has no etcd-" + modules.version(Bundle.ETCD) + "-linux-amd64");
  }

  @Test
  void whatWasMadeOnceIsFoundAfterwards() throws Exception {
    Path directory = cache.filledBy(maker(Programs::make)).obtain(Bundle.KUBERNETES);

    assertThat(cache.obtain(Bundle.KUBERNETES)).isEqualTo(directory);
    assertThat(directory.resolve("kube-apiserver")).isExecutable();
  }

  @Test
  void aMakerThatFailsLeavesNothing() throws Exception {
    BinarySource source =
        cache.filledBy(
            maker(
                (directory, bundle) -> {
                  Programs.make(directory, "kube-apiserver", "half done");
                  throw new SourceFailedException("the disk is full");
                }));

    assertThatThrownBy(() -> source.obtain(Bundle.KUBERNETES))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("the disk is full");
    assertThatThrownBy(() -> cache.obtain(Bundle.KUBERNETES))
        .isInstanceOf(SourceFailedException.class);
    assertThat(entriesThatAreNoLocks()).isEmpty();
  }

  @Test
  void aMakerThatForgetsAProgramIsFoundOut() {
    BinarySource source =
        cache.filledBy(
            maker((directory, bundle) -> Programs.make(directory, "kube-apiserver", "")));

    assertThatThrownBy(() -> source.obtain(Bundle.KUBERNETES))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("made no kube-controller-manager, kube-scheduler");
  }

  @Test
  void whatAKilledMakerLeftIsRemoved() throws Exception {
    String name = "kwok-" + modules.version(Bundle.KWOK) + "-linux-amd64";
    Path leftOver = Files.createDirectory(root.resolve(name + ".part-123"));
    Programs.make(leftOver, "kwok", "half written");

    cache.filledBy(maker(Programs::make)).obtain(Bundle.KWOK);

    assertThat(entriesThatAreNoLocks()).containsExactly(name);
  }

  @Test
  void manyThatAskAtOnceHaveItMadeOnce() throws Exception {
    BundleBuilder maker = maker(Programs::make);
    Callable<Path> asking = () -> cache().filledBy(maker).obtain(Bundle.ETCD);

    try (var executor = Executors.newFixedThreadPool(8)) {
      for (Future<Path> answer : executor.invokeAll(Collections.nCopies(8, asking))) {
        assertThat(answer.get().resolve("etcd")).isExecutable();
      }
    }

    assertThat(made).hasValue(1);
  }

  @Test
  void whileAnotherProcessMakesABundleItIsWaitedFor() throws Exception {
    // given a process that holds the lock of a bundle
    Path lock = root.resolve("etcd-" + modules.version(Bundle.ETCD) + "-linux-amd64.lock");
    Process other =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                LockHolder.class.getName(),
                lock.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(other.inputReader().readLine()).isEqualTo("locked");

    // when the bundle is asked for, and the other process ends once it was seen to be waited for
    BinarySource source = cache.filledBy(maker(Programs::make));
    try (var executor = Executors.newSingleThreadExecutor()) {
      Future<Path> answer = executor.submit(() -> source.obtain(Bundle.ETCD));
      await().until(() -> said.contains("waiting for another process that fetches or builds etcd"));
      assertThat(made).hasValue(0);
      other.destroyForcibly();

      // then it is made
      assertThat(answer.get().resolve("etcd")).isExecutable();
    }
    assertThat(made).hasValue(1);
  }

  @Test
  void theCacheIsWhereTheEnvironmentSays() {
    assertThat(BinaryCache.defaultRoot(Map.of("XDG_CACHE_HOME", "/caches")))
        .isEqualTo(Path.of("/caches/sluice/control-plane"));
    assertThat(BinaryCache.defaultRoot(Map.of()))
        .isEqualTo(Path.of(System.getProperty("user.home"), ".cache", "sluice", "control-plane"));
  }

  private BinaryCache cache() {
    return new BinaryCache(root, modules, PLATFORM, said::add);
  }

  private List<String> entriesThatAreNoLocks() throws Exception {
    try (var entries = Files.list(root)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .filter(name -> !name.endsWith(".lock"))
          .toList();
    }
  }

  private BundleBuilder maker(Making making) {
    return new BundleBuilder() {
      @Override
      public String name() {
        return "maker";
      }

      @Override
      public void make(Bundle bundle, Path emptyDirectory) throws SourceFailedException {
        made.incrementAndGet();
        making.make(emptyDirectory, bundle);
      }
    };
  }

  @FunctionalInterface
  private interface Making {
    void make(Path directory, Bundle bundle) throws SourceFailedException;
  }

  /** A process that locks a file and waits to be killed. */
  static final class LockHolder {

    private LockHolder() {}

    public static void main(String[] args) throws Exception {
      try (FileChannel channel =
              FileChannel.open(
                  Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = channel.lock()) {
        System.out.println(lock.isValid() ? "locked" : "failed");
        System.out.flush();
        new CountDownLatch(1).await();
      }
    }
  }
}
