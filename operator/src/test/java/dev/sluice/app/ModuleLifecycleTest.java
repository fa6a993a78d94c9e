package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.app.OperatorApplication.ModuleLifecycle;
import dev.sluice.app.module.CacheSyncWaiter;
import dev.sluice.app.module.OperatorModule;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ModuleLifecycleTest {

  private static final CacheSyncWaiter CACHE_SYNC = new CacheSyncWaiter(Duration.ofSeconds(1));

  private final List<String> steps = new ArrayList<>();

  @Test
  void modulesAreStartedInOrderAndStoppedInReverse() throws Exception {
    ModuleLifecycle modules = modules(module("one"), module("two"));

    modules.start(CACHE_SYNC);
    modules.leadershipStarted();
    modules.close();

    assertThat(steps)
        .containsExactly(
            "start one",
            "start two",
            "leadershipStarted one",
            "leadershipStarted two",
            "leadershipEnded one",
            "leadershipEnded two",
            "stop two",
            "stop one",
            "release the lease",
            "close two",
            "close one",
            "close the context");
  }

  @Test
  void aModuleThatFailsKeepsNeitherTheLeaseNorTheOtherModules() throws Exception {
    ModuleLifecycle modules =
        modules(module("one"), module("two", "leadershipEnded", "stop", "close"), module("three"));
    modules.start(CACHE_SYNC);
    steps.clear();

    modules.close();

    assertThat(steps)
        .containsExactly(
            "leadershipEnded one",
            "leadershipEnded two",
            "leadershipEnded three",
            "stop three",
            "stop two",
            "stop one",
            "release the lease",
            "close three",
            "close two",
            "close one",
            "close the context");
  }

  @Test
  void anErrorDoesNotKeepTheLease() {
    ModuleLifecycle modules =
        modules(
            new OperatorModule() {
              @Override
              public void stop() {
                throw new LinkageError("intended");
              }
            });

    assertThatThrownBy(modules::close).isInstanceOf(LinkageError.class);

    assertThat(steps).contains("release the lease");
  }

  @Test
  void aLeaseThatCantBeReleasedDoesNotKeepTheModules() {
    ModuleLifecycle modules =
        new ModuleLifecycle(
            List.of(module("one")),
            () -> {
              throw new IOException("intended");
            },
            () -> steps.add("close the context"));

    modules.close();

    assertThat(steps).endsWith("close one", "close the context");
  }

  @Test
  void aStartThatFailsClosesWhatWasStarted() {
    ModuleLifecycle modules = modules(module("one"), module("two", "start"), module("three"));

    assertThatThrownBy(() -> modules.start(CACHE_SYNC)).hasMessage("start two");

    assertThat(steps)
        .startsWith("start one", "start two")
        .doesNotContain("start three")
        .containsSubsequence("stop two", "stop one", "release the lease", "close two", "close one")
        .endsWith("close the context");
  }

  @Test
  void everythingIsClosedOnce() {
    ModuleLifecycle modules = modules(module("one"));
    modules.close();
    List<String> first = List.copyOf(steps);

    modules.close();

    assertThat(steps).isEqualTo(first);
  }

  @Test
  void leadershipDoesNotStartAfterItsEnd() {
    ModuleLifecycle modules = modules(module("one"));
    modules.leadershipEnded();
    steps.clear();

    assertThat(modules.leadershipStarted()).isFalse();

    assertThat(steps).isEmpty();
  }

  @Test
  void leadershipThatEndsMeanwhileStartsInNoFurtherModule() {
    List<ModuleLifecycle> created = new ArrayList<>();
    ModuleLifecycle modules =
        modules(
            new OperatorModule() {
              @Override
              public void leadershipStarted() {
                created.getFirst().leadershipEnded();
              }
            },
            module("two"));
    created.add(modules);

    assertThat(modules.leadershipStarted()).isFalse();

    assertThat(steps).containsExactly("leadershipEnded two");
  }

  private ModuleLifecycle modules(OperatorModule... modules) {
    return new ModuleLifecycle(
        List.of(modules),
        () -> steps.add("release the lease"),
        () -> steps.add("close the context"));
  }

  /** A module that records its steps, and whose {@code failing} steps throw. */
  private OperatorModule module(String name, String... failing) {
    return new RecordingModule(name, Set.of(failing));
  }

  private final class RecordingModule implements OperatorModule {

    private final String name;
    private final Set<String> failing;

    RecordingModule(String name, Set<String> failing) {
      this.name = name;
      this.failing = failing;
    }

    private void record(String step) {
      steps.add(step + " " + name);
      if (failing.contains(step)) {
        throw new IllegalStateException(step + " " + name);
      }
    }

    @Override
    public void start(CacheSyncWaiter cacheSync) {
      record("start");
    }

    @Override
    public void leadershipStarted() {
      record("leadershipStarted");
    }

    @Override
    public void leadershipEnded() {
      record("leadershipEnded");
    }

    @Override
    public void stop() {
      record("stop");
    }

    @Override
    public void close() {
      record("close");
    }
  }
}
