package dev.sluice.kubequeue;

import static dev.sluice.kubequeue.QuotaTrees.cohort;
import static dev.sluice.kubequeue.QuotaTrees.find;
import static dev.sluice.kubequeue.QuotaTrees.ids;
import static dev.sluice.kubequeue.QuotaTrees.local;
import static dev.sluice.kubequeue.QuotaTrees.queue;
import static dev.sluice.kubequeue.QuotaTrees.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kubequeue.ElasticQuotaReader.QuotaObject;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import dev.sluice.kubequeue.QuotaTrees.Cluster;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** ElasticQuotas as sources. */
class ElasticQuotaReaderTest {

  private static final String KEYS = "quota.scheduling.koordinator.sh/";

  private static QuotaObject quotaObject(
      String kind, String namespace, String name, String spec, Map<String, String> labels) {
    return new QuotaObject(
        new QuotaSource(kind, namespace, name, "uid-" + namespace + "-" + name),
        labels,
        Map.of(),
        QuotaTrees.yaml(spec));
  }

  private static QuotaObject koordinator(
      String name, String spec, Map<String, String> labels, String namespaces) {
    QuotaObject object = quotaObject(ElasticQuotaReader.KOORDINATOR, "q", name, spec, labels);
    return new QuotaObject(
        object.source(), labels, Map.of(KEYS + "namespaces", namespaces), object.spec());
  }

  private static QuotaTree tree(ElasticQuotaReader.Result result) {
    return result
        .reading()
        .tree()
        .orElseThrow(() -> new AssertionError(String.valueOf(result.notes())));
  }

  @Test
  void koordinatorsQuotasAreATreeWhoseRootIsUnlimited() {
    ElasticQuotaReader.Result result =
        ElasticQuotaReader.koordinator(
            List.of(
                koordinator("koordinator-default-quota", "{max: {cpu: 1}}", Map.of(), "[]"),
                koordinator(
                    "team",
                    "{min: {cpu: 10}, max: {cpu: 20}}",
                    Map.of(KEYS + "is-parent", "true", KEYS + "parent", "koordinator-root-quota"),
                    "[]"),
                koordinator(
                    "video",
                    "{min: {cpu: 4}, max: {cpu: 6}}",
                    Map.of(KEYS + "parent", "team", KEYS + "allow-lent-resource", "false"),
                    "[\"a\", \"b\"]"),
                koordinator("video", "{min: {cpu: 5}}", Map.of(), "[]")));

    QuotaPlan plan = new Cluster(ElasticQuotaReader.KOORDINATOR).plan(tree(result));

    assertThat(quota(plan, cohort("team"), "cpu")).isEqualTo("6 10 -");
    assertThat(find(plan, cohort("team")).spec().path("parentName").asText())
        .isEqualTo("koordinator-root-quota");
    assertThat(quota(plan, queue("video"), "cpu")).isEqualTo("4 2 0");
    assertThat(ids(plan)).contains(local("a", "video"), local("b", "video"));
    assertThat(ids(plan)).doesNotContain(queue("koordinator-default-quota"));
    assertThat(find(plan, queue("video")).annotations())
        .containsEntry("sluice.dev/source-name", "video")
        .containsEntry("sluice.dev/source-namespace", "q");
  }

  @Test
  void ofTwoQuotasOfOneNameTheOlderCounts() {
    QuotaObject second =
        quotaObject(ElasticQuotaReader.KOORDINATOR, "r", "video", "{min: {cpu: 5}}", Map.of());
    ElasticQuotaReader.Result result =
        ElasticQuotaReader.koordinator(
            List.of(koordinator("video", "{min: {cpu: 4}}", Map.of(), "[]"), second));

    assertThat(result.notes())
        .containsExactly(
            Map.entry(
                second.source(),
                List.of("it is ignored: an older quota of this name is in the namespace q")));
    assertThat(tree(result).root().children()).hasSize(1);
  }

  @Test
  void whatIsWrongIsSaidOfTheQuotaThatIsWrong() {
    QuotaObject orphan =
        koordinator("a", "{min: {cpu: 1}}", Map.of(KEYS + "parent", "nobody"), "[]");
    QuotaObject circle =
        koordinator("b", "{}", Map.of(KEYS + "parent", "b", KEYS + "is-parent", "true"), "[]");
    QuotaObject less = koordinator("c", "{min: {cpu: 2}, max: {cpu: 1}}", Map.of(), "[]");
    QuotaObject text = koordinator("d", "{}", Map.of(), "a");

    assertThat(notes(orphan)).containsExactly("its parent nobody is no quota that others share");
    assertThat(notes(circle)).containsExactly("its parents are a circle");
    assertThat(notes(less))
        .containsExactly("koordinator-root-quota/c: min 2 of cpu is more than max 1");
    assertThat(notes(text)).containsExactly(KEYS + "namespaces is not a list in JSON");
  }

  private static List<String> notes(QuotaObject object) {
    ElasticQuotaReader.Result result = ElasticQuotaReader.koordinator(List.of(object));
    assertThat(result.reading().tree()).isEmpty();
    return result.notes().getOrDefault(object.source(), List.of());
  }

  /** All together may use what all are guaranteed. */
  @Test
  void quotasOfTheSchedulerPluginsShareTheSumOfTheirMinima() {
    QuotaTree tree =
        tree(
            ElasticQuotaReader.plugin(
                List.of(
                    quotaObject(
                        ElasticQuotaReader.PLUGIN, "a", "quota", "{min: {cpu: 3}}", Map.of()),
                    quotaObject(
                        ElasticQuotaReader.PLUGIN,
                        "b",
                        "quota",
                        "{min: {cpu: 2}, max: {cpu: 4}}",
                        Map.of()))));

    QuotaPlan plan = new Cluster(ElasticQuotaReader.PLUGIN).plan(tree);

    assertThat(quota(plan, cohort("elastic-quotas"), "cpu")).isEqualTo("0 - -");
    assertThat(quota(plan, queue("quota"), "cpu")).isEqualTo("3 - -");
    assertThat(ids(plan)).filteredOn(id -> id.kind() == ObjectKind.CLUSTER_QUEUE).hasSize(3);
    assertThat(plan.taken()).hasSize(1);
    assertThat(ids(plan)).contains(local("a", "quota"));
  }

  /** However many there are, reading them ends. */
  @Test
  void aChainOfQuotasIsAtMostAsDeepAsATree() {
    assertThat(chain(63).reading().tree()).isPresent();
    ElasticQuotaReader.Result read = chain(30_000);
    assertThat(read.reading().tree()).isEmpty();
    assertThat(read.notes().values()).containsExactly(List.of("the tree is deeper than 64"));
  }

  /** So many quotas below each other. */
  private static ElasticQuotaReader.Result chain(int length) {
    return ElasticQuotaReader.koordinator(
        IntStream.range(0, length)
            .mapToObj(
                i ->
                    quotaObject(
                        ElasticQuotaReader.KOORDINATOR,
                        "q",
                        "n" + i,
                        "{}",
                        Map.of(
                            KEYS + "is-parent",
                            "true",
                            KEYS + "parent",
                            i == 0 ? "" : "n" + (i - 1))))
            .toList());
  }

  /** No queue can have so many. */
  @Test
  void moreThan64ResourcesAreTooMany() {
    String amounts =
        IntStream.rangeClosed(1, 65)
            .mapToObj(i -> "example.com/r" + i + ": 1")
            .collect(Collectors.joining(", ", "{", "}"));
    QuotaObject plugin =
        quotaObject(
            "ElasticQuota.scheduling.x-k8s.io", "a", "many", "{min: " + amounts + "}", Map.of());
    ElasticQuotaReader.Result read = ElasticQuotaReader.plugin(List.of(plugin));
    assertThat(read.reading().tree()).isEmpty();
    assertThat(read.notes().get(plugin.source()))
        .containsExactly("elastic-quotas: it names more than 64 resources");
  }
}
