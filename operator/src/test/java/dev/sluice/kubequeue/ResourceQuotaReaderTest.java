package dev.sluice.kubequeue;

import static dev.sluice.kubequeue.QuotaTrees.cohort;
import static dev.sluice.kubequeue.QuotaTrees.find;
import static dev.sluice.kubequeue.QuotaTrees.ids;
import static dev.sluice.kubequeue.QuotaTrees.local;
import static dev.sluice.kubequeue.QuotaTrees.queue;
import static dev.sluice.kubequeue.QuotaTrees.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kubequeue.ElasticQuotaReader.QuotaObject;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import dev.sluice.kubequeue.QuotaTrees.Cluster;
import dev.sluice.kubequeue.ResourceQuotaReader.Chosen;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** ResourceQuotas as sources: docs/kube-queue.md#from-quotas-to-queues. */
class ResourceQuotaReaderTest {

  private static final String KIND = ResourceQuotaReader.KIND;

  private static QuotaObject quotaObject(String name, String spec, String... annotation) {
    var parsed = QuotaTrees.yaml(spec);
    return new QuotaObject(
        new QuotaSource(
            KIND, "a", name, "uid-" + name, PodScopes.of(parsed).map(PodScopes::text).orElse("")),
        Map.of(),
        annotation.length == 0 ? Map.of() : Map.of("sluice.dev/queue", annotation[0]),
        parsed);
  }

  private static QuotaObject other(String... annotation) {
    return quotaObject("other", "{hard: {cpu: 1}}", annotation);
  }

  private static final QuotaObject WHOLE =
      quotaObject(
          "all",
          "{hard: {cpu: 4, requests.cpu: 3, pods: 10, limits.cpu: 9, count/jobs.batch: 1,"
              + " requests.nvidia.com/gpu: 2, requests.storage: 1Gi}}");

  private static final QuotaObject URGENT =
      quotaObject(
          "urgent",
          "{hard: {cpu: 2}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass,"
              + " operator: In, values: [high, higher]}]}}");

  private static final QuotaObject BEST =
      quotaObject("best", "{scopes: [BestEffort], hard: {pods: 5}}");

  private static List<QuotaObject> chosen(Set<String> queues, boolean plain, QuotaObject... all) {
    return ResourceQuotaReader.chosen(List.of(all), queues, plain).all();
  }

  private static QuotaPlan plan(Cluster cluster, QuotaObject... all) {
    Map<QuotaSource, List<String>> faults = new HashMap<>();
    List<QuotaTree> trees =
        ResourceQuotaReader.read(ResourceQuotaReader.chosen(List.of(all), Set.of(), true), faults);
    assertThat(faults).isEmpty();
    return cluster.plan(trees.toArray(QuotaTree[]::new));
  }

  @Test
  void aQueueMakesOneOfItsQuotaOrOfTheOnlyOne() {
    assertThat(chosen(Set.of("x"), false, BEST, WHOLE)).containsExactly(WHOLE);
    assertThat(chosen(Set.of("x"), false, WHOLE, other())).isEmpty();
    assertThat(chosen(Set.of("all"), false, other(), WHOLE)).containsExactly(WHOLE);
    assertThat(chosen(Set.of("best"), false, BEST, WHOLE)).containsExactly(WHOLE, BEST);
    assertThat(chosen(Set.of(), false, BEST, WHOLE)).isEmpty();
  }

  @Test
  void anAnnotationMakesAQueueWithoutAQueueObject() {
    QuotaObject asked = quotaObject("asked", "{hard: {cpu: 1}}", "true");
    QuotaObject some = quotaObject("some", "{scopes: [Terminating]}", "true");
    assertThat(chosen(Set.of(), false, asked, WHOLE, BEST, some)).containsExactly(asked, some);
    assertThat(chosen(Set.of("x", "other"), true, other("false"))).isEmpty();
  }

  @Test
  void allAreQueuesWherePlainOnesAreASource() {
    assertThat(chosen(Set.of(), true, BEST, WHOLE, URGENT, quotaObject("not", "{}", "false")))
        .containsExactly(WHOLE, BEST, URGENT);
  }

  @Test
  void whatIsAskedForInVainIsTold() {
    QuotaObject volumes =
        quotaObject(
            "volumes",
            "{scopeSelector: {matchExpressions: [{scopeName: VolumeAttributesClass,"
                + " operator: Exists}]}}");
    Chosen chosen =
        ResourceQuotaReader.chosen(List.of(other(), WHOLE, volumes), Set.of("other"), true);
    assertThat(chosen.all()).containsExactly(other());
    assertThat(chosen.notes())
        .isEqualTo(
            Map.of(
                WHOLE.source(),
                "it is ignored: the queue of the namespace is made from other",
                volumes.source(),
                "it is no queue: its scopes are not about pods"));
  }

  @Test
  void aQuotaOfAllPodsIsAQueueOfItsOwn() {
    QuotaPlan plan = plan(new Cluster(KIND), WHOLE);
    assertThat(quota(plan, queue("a-all"), "cpu")).isEqualTo("3 - -");
    assertThat(quota(plan, queue("a-all"), "pods")).isEqualTo("10 - -");
    assertThat(quota(plan, queue("a-all"), "nvidia.com/gpu")).isEqualTo("2 - -");
    assertThat(quota(plan, queue("a-all"), "storage")).isEqualTo("none");
    assertThat(quota(plan, queue("a-all"), "limits.cpu")).isEqualTo("none");
    assertThat(find(plan, queue("a-all")).spec().has("cohortName")).isFalse();
    assertThat(find(plan, queue("a-all")).annotations())
        .doesNotContainKeys("sluice.dev/oversell-rate", "sluice.dev/source-scopes");
    assertThat(ids(plan)).contains(local("a", "a-all"));
  }

  @Test
  void quotasOfSomePodsAreBelowTheOneOfAll() {
    QuotaPlan plan = plan(new Cluster(KIND), WHOLE, URGENT);
    assertThat(quota(plan, cohort("a-all"), "cpu")).isEqualTo("3 - -");
    assertThat(quota(plan, queue("a-all-self"), "cpu")).isEqualTo("0 - -");
    assertThat(quota(plan, queue("a-urgent"), "cpu")).isEqualTo("0 2 -");
    assertThat(quota(plan, queue("a-urgent"), "pods")).isEqualTo("0 - -");
    assertThat(find(plan, queue("a-urgent")).spec().path("cohortName").asText()).isEqualTo("a-all");
    assertThat(ids(plan)).contains(local("a", "a-all-self"), local("a", "a-urgent"));
    assertThat(find(plan, local("a", "a-urgent")).annotations())
        .containsEntry("sluice.dev/source-scopes", "PriorityClass In high higher");
    assertThat(find(plan, local("a", "a-all-self")).annotations())
        .doesNotContainKey("sluice.dev/source-scopes");
  }

  @Test
  void withoutOneOfAllPodsEachIsATreeOfItsOwn() {
    QuotaPlan plan = plan(new Cluster(KIND), URGENT, BEST);
    assertThat(quota(plan, queue("a-urgent"), "cpu")).isEqualTo("2 - -");
    assertThat(quota(plan, queue("a-best"), "pods")).isEqualTo("5 - -");
    assertThat(find(plan, queue("a-best")).spec().has("cohortName")).isFalse();
    assertThat(ids(plan)).contains(local("a", "a-urgent"), local("a", "a-best"));
  }

  /** A namespace that a tree has is the tree's: no quota of its own takes jobs from it. */
  @Test
  void aTreeComesBefore() {
    Map<QuotaSource, List<String>> faults = new HashMap<>();
    List<QuotaTree> own =
        ResourceQuotaReader.read(new Chosen(Optional.empty(), List.of(URGENT), Map.of()), faults);
    QuotaTree tree = QuotaTrees.tree("{name: root, children: [{name: leaf, namespaces: [a]}]}");
    QuotaPlan plan = new Cluster(KIND, "ElasticQuotaTree").plan(tree, own.getFirst());
    assertThat(ids(plan))
        .contains(queue("a-urgent"), local("a", "root-leaf"))
        .doesNotContain(local("a", "a-urgent"));
  }

  @Test
  void whatCantBeReadIsTold() {
    String amounts =
        IntStream.range(0, 70)
            .mapToObj(i -> "example.com/r" + i + ": 1")
            .collect(Collectors.joining(", ", "{", "}"));
    QuotaObject many = quotaObject("many", "{hard: " + amounts + "}");
    Map<QuotaSource, List<String>> faults = new HashMap<>();
    Chosen chosen = ResourceQuotaReader.chosen(List.of(many), Set.of(), true);
    assertThat(ResourceQuotaReader.read(chosen, faults)).isEmpty();
    assertThat(faults)
        .isEqualTo(Map.of(many.source(), List.of("a/many: it names more than 64 resources")));
  }
}
