package dev.sluice.queues.cache;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.sluice.ReservationReader;
import dev.sluice.api.sluice.ReservationReader.Kind;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.kube.controller.ObservableItemStore;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is said of a reservation or a window that names what isn't there. */
class ReservationTargetsTest {

  private static final String TIMES =
      "start: \"2026-12-01T08:00:00Z\"\nend: \"2026-12-01T18:00:00Z\"\n";

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private Map<String, String> nodeLabels = Map.of();
  private final ReservationTargets targets =
      new ReservationTargets(
          caches, labels -> nodeLabels.entrySet().containsAll(labels.entrySet()));

  private static <T extends HasMetadata> void put(
      ObservableItemStore<T> store, Class<T> type, String yaml) throws IOException {
    T object = new YAMLMapper().readValue(yaml, type);
    String namespace = object.getMetadata().getNamespace();
    String name = object.getMetadata().getName();
    store.put(namespace == null ? name : namespace + "/" + name, object);
  }

  private void queue(String annotations) throws IOException {
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        """
        metadata: {name: research, annotations: {%s}}
        spec:
          resourceGroups:
          - coveredResources: [cpu, memory]
            flavors:
            - name: a100
              resources: [{name: cpu, nominalQuota: 10}, {name: memory, nominalQuota: 4Gi}]
        """
            .formatted(annotations));
  }

  private void localQueue(String name, String clusterQueue) throws IOException {
    put(
        caches.localQueues(),
        LocalQueue.class,
        "metadata: {namespace: course, name: %s}\nspec: {clusterQueue: %s}"
            .formatted(name, clusterQueue));
  }

  private void flavor(String spec) throws IOException {
    put(
        caches.flavors(),
        ResourceFlavor.class,
        "metadata: {name: a100}\nspec: {%s}".formatted(spec));
  }

  private ReservationTargets.Comparison compare(Kind kind, String spec) throws IOException {
    JsonNode read = JsonMappers.JSON.valueToTree(new YAMLMapper().readTree(spec + TIMES));
    return targets.compare(ReservationReader.read(kind, read).spec().orElseThrow());
  }

  private ReservationTargets.Comparison reservation(String capacity, String users)
      throws IOException {
    return compare(
        Kind.CAPACITY_RESERVATION,
        "clusterQueue: research\ncapacity: [%s]\nusers: {%s}\n".formatted(capacity, users));
  }

  private ReservationTargets.Comparison window(String scope) throws IOException {
    return compare(Kind.MAINTENANCE_WINDOW, scope + "\n");
  }

  private static final String EIGHT = "{flavor: a100, resource: cpu, amount: 8}";
  private static final String STUDENTS = "localQueues: [{namespace: course, name: students}]";

  @Test
  void withoutItsQueueNothingIsKeptUntilThereIsOne() throws IOException {
    localQueue("students", "research");
    ReservationTargets.Comparison none = reservation(EIGHT, STUDENTS);
    assertThat(none.keeps()).isFalse();
    assertThat(none.fault()).isEqualTo("counts nothing: no ClusterQueue research");
    assertThat(none.warnings("reservation"))
        .containsExactly(
            "there is no ClusterQueue research yet, so the reservation counts nothing until there"
                + " is");
    queue("");
    assertThat(reservation(EIGHT, STUDENTS))
        .isEqualTo(ReservationTargets.Comparison.COMPLETE)
        .satisfies(it -> assertThat(it.warnings("reservation")).isEmpty());
  }

  @Test
  void eachPartThatIsntThereIsNamed() throws IOException {
    queue("");
    localQueue("students", "research");
    localQueue("others", "elsewhere");
    ReservationTargets.Comparison some =
        reservation(
            EIGHT
                + ", {flavor: h100, resource: cpu, amount: 1},"
                + " {flavor: a100, resource: nvidia.com/gpu, amount: 1}",
            "localQueues: [{namespace: course, name: students}, {namespace: course, name: others},"
                + " {namespace: course, name: gone}], priorityClasses: [demo]");
    assertThat(some.keeps()).isTrue();
    assertThat(some.fault())
        .isEqualTo(
            "no h100 cpu in ClusterQueue research; no a100 nvidia.com/gpu in ClusterQueue research;"
                + " no LocalQueue course/gone of ClusterQueue research; no LocalQueue course/others"
                + " of ClusterQueue research; no WorkloadPriorityClass demo");
    assertThat(some.warnings("reservation"))
        .hasSize(5)
        .contains("there is no WorkloadPriorityClass demo yet");

    put(
        caches.workloadPriorityClasses(),
        WorkloadPriorityClass.class,
        "metadata: {name: demo}\nvalue: 7");
    assertThat(targets.priority("demo")).hasValue(7L);
    assertThat(targets.priority("other")).isEmpty();
    assertThat(reservation(EIGHT, "priorityClasses: [demo]").fault()).isEmpty();
    ReservationTargets.Comparison nothing =
        reservation("{flavor: h100, resource: cpu, amount: 1}", "priorityClasses: [demo]");
    assertThat(nothing.keeps()).isFalse();
    assertThat(nothing.fault()).isEqualTo("counts nothing: no h100 cpu in ClusterQueue research");
  }

  @Test
  void moreThanTheQuotaCannotBeKeptWhole() throws IOException {
    queue("");
    localQueue("students", "research");
    String capacity =
        "{flavor: a100, resource: cpu, amount: 10500m}, {flavor: a100, resource: memory, amount:"
            + " 4Gi}";
    ReservationTargets.Comparison more = reservation(capacity, STUDENTS);
    assertThat(more.keeps()).isTrue();
    assertThat(more.fault()).isEmpty();
    assertThat(more.excess())
        .containsExactly(
            "10500m of a100 cpu can't be kept whole: the nominal quota of ClusterQueue research is"
                + " 10");
    assertThat(more.warnings("reservation")).isEqualTo(more.excess());

    queue("sluice.dev/oversell-rate: '1.05'");
    assertThat(reservation(capacity, STUDENTS).excess()).isEmpty();
    queue("sluice.dev/quota-schedule: Sat 2; Sun 0.5");
    assertThat(reservation(capacity, STUDENTS).excess()).isEmpty();
    queue("sluice.dev/quota-schedule: Sun 0.5");
    assertThat(reservation(capacity, STUDENTS).excess()).hasSize(1);
  }

  @Test
  void windowsOfFlavorsAndNodes() throws IOException {
    assertThat(window("flavors: [a100]").fault())
        .isEqualTo("counts nothing: no ResourceFlavor a100");
    flavor("nodeLabels: {rack: r7}");
    assertThat(window("flavors: [a100]").fault()).isEmpty();
    assertThat(window("flavors: [a100, h100]"))
        .satisfies(
            it -> {
              assertThat(it.keeps()).isTrue();
              assertThat(it.fault()).isEqualTo("no ResourceFlavor h100");
            });
    assertThat(window("nodeLabels: {rack: r7}").keeps()).isTrue();
    nodeLabels = Map.of("rack", "r8");
    assertThat(window("nodeLabels: {rack: r8}").fault())
        .as("without a topology nobody reads nodes")
        .isEqualTo(
            "counts nothing: no ResourceFlavor with nodeLabels rack=r8, and no node of a topology"
                + " with them");
    flavor("nodeLabels: {rack: r7}, topologyName: racks");
    assertThat(window("nodeLabels: {rack: r8}").keeps()).isTrue();
    assertThat(window("nodeLabels: {rack: r9}").keeps()).isFalse();
  }
}
