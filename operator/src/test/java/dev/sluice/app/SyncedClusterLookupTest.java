package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.webhooks.rules.ClusterLookup;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SyncedClusterLookupTest {

  private static final ClusterLookup SENDS =
      new ClusterLookup() {
        @Override
        public boolean hasDefaultLocalQueue(String namespace) {
          return true;
        }

        @Override
        public boolean hasDefaultPriorityClass() {
          return true;
        }

        @Override
        public Map<String, String> namespaceLabels(String namespace) {
          return Map.of("name", namespace);
        }

        @Override
        public boolean runsElsewhere(String namespace, String queue) {
          return queue.equals("far");
        }

        @Override
        public boolean isManaged(String namespace, Owner owner) {
          return true;
        }
      };

  @Test
  void aQuestionWaitsUntilFactsAreKnown() {
    CompletableFuture<Void> known = new CompletableFuture<>();
    ClusterLookup facts = new SyncedClusterLookup(SENDS, known, Duration.ofSeconds(30));

    CompletableFuture<Boolean> answer =
        CompletableFuture.supplyAsync(() -> facts.runsElsewhere("ns", "far"));
    assertThat(answer).isNotDone();
    known.complete(null);

    assertThat(answer.join()).isTrue();
    assertThat(facts.namespaceLabels("ns")).containsEntry("name", "ns");
  }

  @Test
  void aQuestionFailsRatherThanBeAnsweredWrongly() {
    ClusterLookup facts =
        new SyncedClusterLookup(SENDS, new CompletableFuture<>(), Duration.ofMillis(1));

    assertThatThrownBy(() -> facts.runsElsewhere("ns", "near"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the cluster isn't listed yet");
  }

  /** A question that it didn't pass on would be answered by the interface: with no, always. */
  @Test
  void everyQuestionIsPassedOn() {
    List<String> asked =
        Stream.of(ClusterLookup.class.getDeclaredMethods())
            .filter(method -> !method.isSynthetic())
            .map(Method::getName)
            .toList();
    assertThat(asked).contains("isScheduledPodGroup");
    assertThat(Stream.of(SyncedClusterLookup.class.getDeclaredMethods()).map(Method::getName))
        .containsAll(asked);
  }
}
