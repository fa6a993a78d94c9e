package dev.sluice.kube.reflect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.SourceTrees;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A handler of events that throws. */
class GuardedEventHandlerTest {

  private static final ConfigMap OBJECT =
      new ConfigMapBuilder()
          .withNewMetadata()
          .withNamespace("team")
          .withName("a")
          .endMetadata()
          .build();

  private final List<String> events = new ArrayList<>();
  private int failing;

  private final ResourceEventHandler<ConfigMap> handler =
      new ResourceEventHandler<>() {
        @Override
        public void onAdd(ConfigMap now) {
          record("add");
        }

        @Override
        public void onUpdate(ConfigMap before, ConfigMap now) {
          record("update");
        }

        @Override
        public void onDelete(ConfigMap last, boolean lastIsUnknown) {
          record("delete " + lastIsUnknown);
        }

        @Override
        public void onNothing() {
          record("nothing");
        }
      };

  private void record(String event) {
    if (failing > 0) {
      failing--;
      throw new StackOverflowError("provoked");
    }
    events.add(event);
  }

  @Test
  void anEventThatFailsOnceIsHandledOnTheSecondAttempt() {
    GuardedEventHandler<ConfigMap> guard = new GuardedEventHandler<>(handler);

    failing = 1;
    guard.onAdd(OBJECT);
    failing = 1;
    guard.onUpdate(OBJECT, OBJECT);
    failing = 1;
    guard.onDelete(OBJECT, true);
    failing = 1;
    guard.onNothing();

    assertThat(events).containsExactly("add", "update", "delete true", "nothing");
    assertThat(guard.failures()).isZero();
  }

  @Test
  void anEventThatFailsTwiceIsCountedAndTheNextOnesAreHandled() {
    GuardedEventHandler<ConfigMap> guard = new GuardedEventHandler<>(handler);

    failing = 2;
    guard.onAdd(OBJECT);
    guard.onUpdate(OBJECT, OBJECT);

    assertThat(events).containsExactly("update");
    assertThat(guard.failures()).isEqualTo(1);
  }

  private static boolean addsHandler(Path source) {
    try {
      return Files.readString(source).contains(".addEventHandler(");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void noHandlerIsAddedToAnInformerInAnotherWay() {
    assertThat(SourceTrees.main())
        .filteredOn(GuardedEventHandlerTest::addsHandler)
        .extracting(path -> path.getFileName().toString())
        .containsExactly("GuardedEventHandler.java");
  }
}
