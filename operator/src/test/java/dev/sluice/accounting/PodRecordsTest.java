package dev.sluice.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.workload.Templates;
import dev.sluice.workload.feed.AdmittedRequests;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is remembered of pods and of what controls them. */
class PodRecordsTest {

  private static final int CHANGES = 1_000;

  private final PodRecordParser parser =
      new PodRecordParser(AdmittedRequests.PLAIN, image -> false);
  private final PodRecords records = new PodRecords(pod -> {}, uid -> false);

  private static JsonNode pod(String owner) {
    return Templates.node(
        "{metadata: {namespace: team, name: p, uid: %s, ownerReferences: [%s]}, spec: {}}"
            .formatted(
                new UUID(7, 1),
                owner.isEmpty()
                    ? ""
                    : "{apiVersion: x.example/v1, kind: X, name: x, controller: true, uid: %s}"
                        .formatted(owner)));
  }

  private PodRecord seen(String owner) {
    records.seen(parser.of(pod(owner)));
    return records.find(new UUID(7, 1)).orElseThrow();
  }

  /** Whoever may change a pod may give it another owner any number of times. */
  @Test
  void theFirstOwnersOfAPodAndTheLastOneAreRemembered() {
    seen("job");
    for (int i = 0; i < CHANGES; i++) {
      seen("other-" + i);
    }
    assertThat(seen("last").parents())
        .hasSize(PodRecord.MOST_OWNERS)
        .startsWith("job", "other-0")
        .endsWith("last");
    assertThat(seen("").parents()).hasSize(PodRecord.MOST_OWNERS).endsWith("last");
    assertThat(records.above(seen(""))).contains("job", "last").hasSize(PodRecord.MOST_OWNERS + 1);
  }

  @Test
  void theFirstOwnersOfAJobAndTheLastOneAreRemembered() {
    seen("job");
    records.linked("job", "set");
    for (int i = 0; i < CHANGES; i++) {
      records.linked("job", "other-" + i);
    }
    records.linked("job", "last");
    assertThat(records.above("job"))
        .hasSize(PodRecord.MOST_OWNERS + 1)
        .contains("set", "other-0", "last");
    assertThat(records.linked("job", "last")).isFalse();
    assertThat(records.below(Set.of("last"))).hasSize(1);
    assertThat(records.below(Set.of("other-999"))).isEmpty();
  }
}
