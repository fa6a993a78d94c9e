package dev.sluice.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.Templates;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload.Owner;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
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

  /** An executor of Spark has a pod as its controller, and the application behind that. */
  @Test
  void noMoreAreRememberedWhereAPodHasTwoAtATime() {
    PodRecordParser ofExecutors =
        new PodRecordParser(
            AdmittedRequests.PLAIN,
            image -> false,
            metadata -> Optional.of(new Owner("example.com/v1", "App", "app", owner(metadata))));
    for (String uid : IntStream.range(0, CHANGES).mapToObj(Integer::toString).toList()) {
      JsonNode pod = pod(uid);
      pod.at("/metadata/ownerReferences")
          .forEach(it -> ((ObjectNode) it).put("apiVersion", "v1").put("kind", "Pod"));
      records.seen(ofExecutors.of(pod));
    }
    assertThat(records.find(new UUID(7, 1)).orElseThrow().parents())
        .hasSize(PodRecord.MOST_OWNERS)
        .startsWith("0", "behind-0")
        .endsWith("999", "behind-999");
  }

  private static String owner(JsonNode metadata) {
    return "behind-" + metadata.at("/ownerReferences/0/uid").asText();
  }

  /** An API server takes names and UIDs of owners of any length. */
  @Test
  void whatIsRememberedOfAnOwnerIsNoLongerThanNamesAre() {
    String text = "x".repeat(100_000);
    for (int i = 0; i < PodRecord.MOST_OWNERS; i++) {
      String longText = i + text;
      records.seen(
          parser.of(
              Templates.node(
                  """
                  {metadata: {namespace: team, name: p, uid: %s, ownerReferences: [
                    {apiVersion: %s/v1, kind: %s, name: %s, uid: %s, controller: true}]}, spec: {}}
                  """
                      .formatted(new UUID(7, 1), longText, longText, longText, longText))));
      records.linked("job", longText);
    }
    List<Owner> owners = records.find(new UUID(7, 1)).orElseThrow().owners();
    assertThat(owners)
        .hasSize(PodRecord.MOST_OWNERS)
        .flatExtracting(Owner::apiVersion, Owner::kind, Owner::name, Owner::uid)
        .allSatisfy(each -> assertThat((String) each).hasSizeLessThan(300));
    assertThat(records.above("job")).containsExactly("job");
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
