package dev.sluice.kubequeue;

import static dev.sluice.kubequeue.QuotaTrees.cohort;
import static dev.sluice.kubequeue.QuotaTrees.find;
import static dev.sluice.kubequeue.QuotaTrees.ids;
import static dev.sluice.kubequeue.QuotaTrees.local;
import static dev.sluice.kubequeue.QuotaTrees.queue;
import static dev.sluice.kubequeue.QuotaTrees.quota;
import static dev.sluice.kubequeue.QuotaTrees.settings;
import static dev.sluice.kubequeue.QuotaTrees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import dev.sluice.kubequeue.QuotaTrees.Cluster;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From quotas to objects. */
class QuotaPlannerTest {

  private static final String TREE =
      """
      name: root
      min: {cpu: 10, memory: 10Gi}
      max: {cpu: 10, memory: 10Gi}
      children:
      - name: Team_A
        min: {cpu: 6}
        max: {cpu: 8}
        children:
        - {name: a1, min: {cpu: 2}, max: {cpu: 7}, namespaces: [a]}
        - {name: a2, min: {cpu: 3}, namespaces: [b]}
      - name: b
        min: {cpu: 2}
        max: {cpu: 10, kube-queue/max-jobs: 3}
        attributes: {alibabacloud.com/lendlimit: '{"cpu": "500m"}'}
        namespaces: [c, elsewhere]
      """;

  @Test
  void leavesBecomeQueuesAndInnerNodesCohorts() {
    QuotaPlan plan = new Cluster().plan(tree(TREE));

    assertThat(ids(plan))
        .containsExactly(
            new ObjectId(ObjectKind.FLAVOR, "", "kube-queue"),
            cohort("root"),
            cohort("root-team-a"),
            queue("root-self"),
            queue("root-team-a-self"),
            queue("root-team-a-a1"),
            queue("root-team-a-a2"),
            queue("root-b"),
            local("a", "root-team-a-a1"),
            local("b", "root-team-a-a2"),
            local("c", "root-b"));
    assertThat(quota(plan, cohort("root"), "cpu")).isEqualTo("2 - -");
    assertThat(quota(plan, cohort("root"), "memory")).isEqualTo("10Gi - -");
    assertThat(quota(plan, cohort("root-team-a"), "cpu")).isEqualTo("1 2 -");
    assertThat(quota(plan, queue("root-team-a-a1"), "cpu")).isEqualTo("2 5 -");
    assertThat(quota(plan, queue("root-team-a-a2"), "cpu")).isEqualTo("3 - -");
    assertThat(quota(plan, queue("root-team-a-a2"), "memory")).isEqualTo("0 - -");
    assertThat(quota(plan, queue("root-b"), "cpu")).isEqualTo("2 8 500m");
    assertThat(find(plan, queue("root-b")).spec())
        .isEqualTo(
            QuotaTrees.yaml(
                """
                cohortName: root
                namespaceSelector:
                  matchExpressions:
                  - {key: kubernetes.io/metadata.name, operator: In, values: [c, elsewhere]}
                queueingStrategy: BestEffortFIFO
                preemption:
                  reclaimWithinCohort: Any
                  borrowWithinCohort: {policy: Never}
                  withinClusterQueue: Never
                resourceGroups:
                - coveredResources: [cpu, memory]
                  flavors:
                  - name: kube-queue
                    resources:
                    - {name: cpu, nominalQuota: "2", borrowingLimit: "8", lendingLimit: "500m"}
                    - {name: memory, nominalQuota: "0"}
                """));
    assertThat(find(plan, queue("root-b")).annotations())
        .containsEntry("sluice.dev/source-kind", "ElasticQuotaTree")
        .containsEntry("sluice.dev/source-namespace", "kube-system")
        .containsEntry("sluice.dev/source-name", "tree")
        .containsEntry("sluice.dev/source-uid", "uid-1")
        .containsEntry("sluice.dev/source-path", "root/b")
        .containsEntry("sluice.dev/oversell-rate", "2")
        .containsEntry("sluice.dev/queueing-strategy", "RoundRobin")
        .containsEntry("sluice.dev/attempt-backoff", "1s,20s")
        .containsEntry("sluice.dev/preemptible-labels", "true")
        .containsEntry("sluice.dev/max-concurrent-workloads", "6")
        .hasSize(10);
  }

  /** Strict priority pauses as Round does, until quota is given back. */
  @ParameterizedTest
  @CsvSource({"ROUND, RoundRobin", "STRICT_PRIORITY, StrictPriority", "BLOCK,"})
  void pausesBetweenAttemptsAreThoseOfTheConfiguration(
      KubeQueue.Policy policy, @Nullable String strategy) {
    Cluster cluster = new Cluster();
    KubeQueue usual = cluster.settings;
    cluster.settings =
        new KubeQueue(
            true,
            usual.sources(),
            usual.namespace(),
            usual.oversellRate(),
            policy,
            new KubeQueue.Starts(
                Duration.ZERO,
                Duration.ofMinutes(1),
                new AttemptBackoff(Duration.ofSeconds(5), Duration.ofMinutes(1))),
            usual.jobs(),
            usual.units());

    Map<String, String> annotations =
        find(
                cluster.plan(tree("{max: {cpu: 1}, children: [{name: b, min: {cpu: 1}}]}")),
                queue("root-b"))
            .annotations();

    assertThat(annotations.get("sluice.dev/queueing-strategy")).isEqualTo(strategy);
    assertThat(annotations.get("sluice.dev/attempt-backoff"))
        .isEqualTo(strategy == null ? null : "5s,1m");
  }

  /** What is kept from others at one level counts at the next. */
  @Test
  void lendLimitsAreNested() {
    QuotaPlan plan =
        new Cluster()
            .plan(
                tree(
                    """
                    max: {cpu: 20}
                    children:
                    - name: a
                      min: {cpu: 10}
                      attributes: {alibabacloud.com/lendlimit: '{"cpu": 3}'}
                      children:
                      - name: x
                        min: {cpu: 4}
                        attributes: {alibabacloud.com/lendlimit: '{"cpu": 1}'}
                      - {name: y, min: {cpu: 5}}
                    """));

    // x keeps 3; a keeps 10 - 3 - 3 = 4 of the 1 + 1 + 5 that reach it
    assertThat(quota(plan, queue("root-a-x"), "cpu")).isEqualTo("4 - 1");
    assertThat(quota(plan, queue("root-a-y"), "cpu")).isEqualTo("5 - -");
    assertThat(quota(plan, cohort("root-a"), "cpu")).isEqualTo("1 - 3");
    assertThat(quota(plan, cohort("root"), "cpu")).isEqualTo("10 - -");
  }

  /** Published examples have trees like this. */
  @Test
  void quotasThatAreGuaranteedMoreThanTheOneAboveThemAreToldOf() {
    QuotaReading reading =
        QuotaTrees.read(
            """
            max: {cpu: 9}
            children:
            - name: a
              min: {cpu: 2}
              children: [{name: x, min: {cpu: 1}}, {name: y, min: {cpu: 1500m}}]
            - {name: b, min: {cpu: 4}}
            """);

    assertThat(reading.tree()).isPresent();
    assertThat(reading.warnings())
        .containsExactly(
            "root/a: the quotas below it are guaranteed 2500m of cpu, more than its min 2");
    assertThat(QuotaTrees.read(TREE).warnings()).isEmpty();
  }

  /** A limit that no number of Workloads reaches isn't written: the annotation couldn't hold it. */
  @Test
  void limitsOfJobsAreOverSoldAndHoldForAllBelow() {
    QuotaTree tree =
        tree(
            """
            max: {cpu: 20, kube-queue/max-jobs: 10000000000}
            children:
            - name: a
              max: {kube-queue/max-jobs: 5}
              children: [{name: x, max: {kube-queue/max-jobs: 3}}]
            """);
    Cluster cluster = new Cluster();
    cluster.settings = QuotaTrees.settings(1.5, QuotaLabel.LISTED);
    QuotaPlan plan = cluster.plan(tree);

    String most = "sluice.dev/max-concurrent-workloads";
    assertThat(find(plan, cohort("root")).annotations()).doesNotContainKey(most);
    assertThat(find(plan, cohort("root-a")).annotations()).containsEntry(most, "7");
    assertThat(find(plan, queue("root-a-x")).annotations()).containsEntry(most, "4");
    assertThat(find(plan, queue("root-a-self")).annotations())
        .doesNotContainKey(most)
        .containsEntry("sluice.dev/cohort-guarantee", "true");
  }

  @Test
  void aRootWithoutChildrenIsAQueueOfItsOwn() {
    QuotaPlan plan = new Cluster().plan(tree("{max: {cpu: 4}, min: {memory: 1}, namespaces: [a]}"));

    assertThat(find(plan, queue("root")).spec().has("cohortName")).isFalse();
    assertThat(quota(plan, queue("root"), "cpu")).isEqualTo("4 - -");
    assertThat(quota(plan, queue("root"), "memory"))
        .isEqualTo("1152921504606846975 - -"); // unlimited
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{name: top} | the root's name is \"top\", not root",
        "{min: {cpu: 2}, max: {cpu: 1}} | root: min 2 of cpu is more than max 1",
        "{max: {cpu: 1}, children: [{name: a, min: {cpu: 1}}, {name: b, min: {cpu: 1}}]} | root:"
            + " the quotas below it are guaranteed 2 of cpu, more than its max 1",
        "{children: [{name: a}, {name: a}]} | root/a: the name a is there twice",
        "{children: [{name: a, namespaces: [x]}, {name: b, namespaces: [x]}]} | root/b: the"
            + " namespace x belongs to root/a",
        "{namespaces: [x], children: [{name: a}]} | root: it has children, so that it can't have"
            + " namespaces",
        "{children: [{name: a/b}]} | root: \"a/b\" can't be the name of a quota",
        "{children: [{namespaces: [x]}]} | root: \"\" can't be the name of a quota",
        "{namespaces: [X]} | root: \"X\" is no namespace",
        "{max: {cpu: -1}} | root: max.cpu: \"-1\" is less than 0",
        "{max: {cpu: x}} | root: max.cpu: \"x\" is no quantity",
        "{max: [1]} | root: max is no list of resources",
        "{max: {a/b/c: 1}} | root: max: \"a/b/c\" is no resource",
        "{max: {-x.y/z: 1}} | root: max: \"-x.y/z\" is no resource",
        "{max: {kube-queue/max-jobs: 0}} | root: max 0 of kube-queue/max-jobs is less than 1",
        "{min: {kube-queue/max-jobs: 3}, max: {kube-queue/max-jobs: 2}} | root: min 3 of"
            + " kube-queue/max-jobs is more than max 2",
        "{attributes: {alibabacloud.com/lendlimit: '{'}} | root: alibabacloud.com/lendlimit is not"
            + " JSON",
      })
  void saysWhatIsWrongWithATree(String root, String fault) {
    QuotaReading reading = QuotaTrees.read(root);

    assertThat(reading.tree()).isEmpty();
    assertThat(reading.faults()).containsExactly(fault);
  }

  @Test
  void otherAttributesAreToldOf() {
    assertThat(
            QuotaTrees.read("{children: [{name: a, attributes: {resourceflavors: x}}]}")
                .unsupported())
        .containsExactly("root/a: the attribute resourceflavors");
  }

  /** The webhooks would refuse a queue with such a rate. */
  @Test
  void aRateHasAtMostSixDecimalPlaces() {
    Cluster cluster = new Cluster();
    cluster.settings = settings(4.0 / 3, QuotaLabel.LISTED);
    QuotaPlan plan = cluster.plan(tree("{max: {cpu: 1, kube-queue/max-jobs: 3}}"));
    assertThat(find(plan, queue("root")).annotations())
        .containsEntry("sluice.dev/oversell-rate", "1.333333")
        .containsEntry("sluice.dev/max-concurrent-workloads", "3");
  }

  /** A second plan for what was made by the first changes nothing. */
  @Test
  void namesStay() {
    Cluster cluster = new Cluster();
    cluster.stranger(queue("root-b"));
    cluster.stranger(local("c", "root-b-51181"));
    QuotaPlan first = cluster.carryOut(tree(TREE));
    cluster.objects.remove(queue("root-b"));

    QuotaPlan second = cluster.plan(tree(TREE));

    assertThat(first.taken()).hasSize(2);
    assertThat(first.taken().getFirst().note())
        .startsWith("ClusterQueue root-b: the name of the ClusterQueue for root/b is taken");
    assertThat(ids(first)).doesNotContain(queue("root-b"), local("c", "root-b-51181"));
    assertThat(second.objects()).isEqualTo(first.objects());
    assertThat(second.taken()).isEmpty();
  }

  /** Names that are taken once more are never adopted, and fit into a job's label. */
  @Test
  void aNameWithSuffixMayBeTakenToo() {
    String leaf = "x".repeat(58);
    String text = "{max: {cpu: 1}, children: [{name: %s, namespaces: [a]}]}".formatted(leaf);
    ObjectId local = new Cluster().plan(tree(text)).objects().getLast().id();
    assertThat(local.name()).isEqualTo("root-" + leaf);
    Cluster cluster = new Cluster();
    cluster.stranger(local);
    ObjectId other = cluster.plan(tree(text)).objects().getLast().id();
    assertThat(other.name()).hasSize(63).isNotEqualTo(local.name());
    cluster.stranger(other);

    ObjectId third = cluster.plan(tree(text)).objects().getLast().id();

    assertThat(third.name()).hasSize(63).isNotIn(local.name(), other.name());
  }

  /** Both names are the same in the form that names of objects have. */
  @Test
  void quotasOfSimilarNamesAreTwoQueues() {
    QuotaPlan plan = new Cluster().plan(tree("{children: [{name: a_b}, {name: a-b}]}"));

    assertThat(ids(plan)).filteredOn(id -> id.kind() == ObjectKind.CLUSTER_QUEUE).hasSize(3);
    assertThat(plan.taken()).hasSize(1);
  }

  @Test
  void aRemovedQuotaIsHeldWhileItIsUsedAndItsReturnLiftsThat() {
    Cluster cluster = new Cluster();
    QuotaTree whole =
        tree("{max: {cpu: 5}, children: [{name: a, min: {cpu: 3}, namespaces: [a]}]}");
    QuotaTree less = tree("{max: {cpu: 5}, children: [{name: b, min: {cpu: 4}, namespaces: [a]}]}");
    cluster.carryOut(whole);
    cluster.use(queue("root-a"), true);
    cluster.use(local("a", "root-a"), true);

    QuotaPlan held = cluster.carryOut(less);

    // of its 3, the removed queue keeps the one that nobody else was given
    assertThat(quota(held, cohort("root"), "cpu")).isEqualTo("0 - -");
    assertThat(quota(held, queue("root-a"), "cpu")).isEqualTo("1 - -");
    assertThat(find(held, queue("root-a")).spec().path("stopPolicy").asText()).isEqualTo("Hold");
    assertThat(find(held, local("a", "root-a")).spec().path("stopPolicy").asText())
        .isEqualTo("Hold");
    assertThat(held.removed()).isEmpty();
    assertThat(held.waiting()).isTrue();
    assertThat(cluster.plan(less).objects()).containsExactlyInAnyOrderElementsOf(held.objects());

    QuotaPlan back = cluster.plan(whole);
    assertThat(find(back, queue("root-a")).spec().has("stopPolicy")).isFalse();
    assertThat(find(back, queue("root-a")).annotations())
        .doesNotContainKey("sluice.dev/source-removed");

    cluster.use(queue("root-a"), false);
    assertThat(quota(cluster.carryOut(less), queue("root-a"), "cpu")).isEqualTo("0 - -");
    assertThat(cluster.carryOut(less).removed()).containsExactly(queue("root-a"));
    assertThat(quota(cluster.plan(less), cohort("root"), "cpu")).isEqualTo("1 - -");
    cluster.use(local("a", "root-a"), false);
    QuotaPlan last = cluster.carryOut(less);
    assertThat(last.removed()).containsExactly(local("a", "root-a"));
    assertThat(cluster.plan(less).waiting()).isFalse();
  }

  @Test
  void withoutItsTreeNothingBeginsAndCohortsStayWhileTheyAreNeeded() {
    Cluster cluster = new Cluster();
    cluster.carryOut(tree(TREE));
    cluster.use(queue("root-team-a-a1"), true);

    cluster.carryOut();
    cluster.carryOut();
    QuotaPlan plan = cluster.carryOut();

    assertThat(ids(plan)).containsExactly(queue("root-team-a-a1"));
    assertThat(cluster.objects.keySet())
        .containsExactlyInAnyOrder(
            new ObjectId(ObjectKind.FLAVOR, "", "kube-queue"),
            cohort("root"),
            cohort("root-team-a"),
            queue("root-team-a-a1"));
    cluster.use(queue("root-team-a-a1"), false);
    cluster.carryOut();
    assertThat(cluster.objects).isEmpty();
  }

  @Test
  void aSourceThatCantBeReadLeavesEverythingAsItIs() {
    Cluster cluster = new Cluster("ElasticQuota");
    cluster.carryOut(tree(TREE));

    QuotaPlan plan = cluster.plan();

    assertThat(plan.objects()).isEmpty();
    assertThat(plan.removed()).isEmpty();
  }

  @Test
  void nothingOfAStrangerIsTouched() {
    Cluster cluster = new Cluster();
    cluster.stranger(cohort("root"));
    cluster.stranger(queue("mine"));
    cluster.stranger(new ObjectId(ObjectKind.FLAVOR, "", "kube-queue"));
    Set<ObjectId> theirs = Set.copyOf(cluster.objects.keySet());

    QuotaPlan plan = cluster.carryOut(tree(TREE));

    assertThat(ids(plan)).doesNotContainAnyElementsOf(theirs);
    assertThat(find(plan, queue("root-b")).spec().path("cohortName").asText())
        .startsWith("root-")
        .hasSize(10);
    cluster.carryOut();
    cluster.carryOut();
    assertThat(cluster.objects.keySet()).isEqualTo(theirs);
  }

  /** A job may name a quota that lists its namespace, or any, if the configuration says so. */
  @Test
  void aQuotaThatAJobNamesGetsALocalQueue() {
    Cluster cluster = new Cluster();
    cluster.carryOut(tree(TREE));
    cluster.demand("d", "root-b", "root/b");
    cluster.demand("a", "root-team-a-self", "root/Team_A");
    cluster.demand("d", "root-team-a-self", "root/Team_A");

    QuotaPlan listed = cluster.plan(tree(TREE));

    assertThat(find(listed, local("d", "root-b")).annotations())
        .containsKey("sluice.dev/source-removed");
    assertThat(find(listed, local("d", "root-team-a-self")).annotations())
        .containsKey("sluice.dev/source-removed");
    assertThat(find(listed, local("a", "root-team-a-self")).annotations())
        .containsEntry(SourceMark.ON_DEMAND, "true")
        .doesNotContainKey("sluice.dev/source-removed");
    assertThat(quota(listed, queue("root-team-a-self"), "cpu")).isEqualTo("0 - -");
    assertThat(find(listed, queue("root-team-a-self")).spec().path("cohortName").asText())
        .isEqualTo("root-team-a");

    cluster.settings = settings(2, QuotaLabel.ANYWHERE);
    QuotaPlan anywhere = cluster.carryOut(tree(TREE));
    assertThat(find(anywhere, local("d", "root-b")).annotations())
        .doesNotContainKey("sluice.dev/source-removed");
    assertThat(find(anywhere, queue("root-b")).spec().path("namespaceSelector")).isEmpty();
  }

  @Test
  void aNamespaceThatMovesGetsANewQueueAndWhatRunsStays() {
    Cluster cluster = new Cluster();
    cluster.carryOut(tree("{children: [{name: x, namespaces: [a]}, {name: y}]}"));
    cluster.use(local("a", "root-x"), true);

    QuotaPlan moved = cluster.carryOut(tree("{children: [{name: x}, {name: y, namespaces: [a]}]}"));

    assertThat(find(moved, local("a", "root-x")).spec().path("stopPolicy").asText())
        .isEqualTo("Hold");
    assertThat(find(moved, local("a", "root-y")).spec().path("clusterQueue").asText())
        .isEqualTo("root-y");
    assertThat(find(moved, queue("root-x")).spec().has("namespaceSelector")).isFalse();
  }
}
