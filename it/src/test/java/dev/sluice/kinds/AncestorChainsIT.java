package dev.sluice.kinds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Jobs that belong to other jobs: only the topmost one has a Workload. Those below it can't run
 * before it is admitted, and are left alone then: to stop them is the affair of the controller that
 * created them. Here the test creates them in the place of such controllers.
 */
@OperatorTest(configuration = EveryKindIT.FRAMEWORKS)
@Tag(BuildBreadth.NIGHTLY)
class AncestorChainsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int ENOUGH = 20;
  private static final int PATIENT = 1000;

  /** Kinds whose controllers may create jobs of any other kind, for all that is known of them. */
  private static final List<String> PARENTS =
      List.of("appwrapper", "jobset", "pytorchjob", "mpijob", "rayjob");

  private static final List<String> CHILDREN =
      Stream.concat(PARENTS.stream(), Stream.of("job")).toList();

  @SuppressWarnings("NullAway.Init") // made before each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // made before each test
  private QueuedJobs api;

  /** An object of a chain. */
  private record Link(KindRow row, String name) {}

  /**
   * Every parent with a child, every child with a parent, and five below each other; in the nightly
   * build every parent with every child.
   */
  private static List<List<String>> chains() {
    List<List<String>> chains = new ArrayList<>();
    for (String parent : PARENTS) {
      for (String child : CHILDREN) {
        chains.add(List.of(parent, child));
      }
    }
    chains.add(List.of("appwrapper", "rayjob", "jobset", "mpijob", "job"));
    return chains;
  }

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new QueuedJobs(own);
    PlayedKinds.all().forEach(played -> PlayedDefinitions.install(own.client(), played));
    api.givenQueues(0);
  }

  /** All chains at once: one waits as long as all of them do. */
  @Test
  void childrenWaitForTheTopmostJobAndAreLeftAloneThen() {
    List<List<Link>> chains = new ArrayList<>();
    chains().forEach(kinds -> chains.add(create(chains.size(), kinds)));
    List<Link> tops = chains.stream().map(List::getFirst).toList();
    List<Link> children =
        chains.stream().flatMap(chain -> chain.subList(1, chain.size()).stream()).toList();
    List<String> workloads =
        tops.stream().map(top -> api.workloadOf(top.row().type(), top.name())).toList();
    awaitSuspended(tops, true);
    awaitSuspended(children, true);

    children.forEach(link -> suspend(link, false));
    awaitSuspended(tops, true);
    awaitSuspended(children, true);
    assertNoOtherWorkloads("later", workloads);

    api.setQuota(ENOUGH * chains.size());
    workloads.forEach(it -> api.awaitCondition(QueuedJobs.WORKLOAD, it, "Admitted", "True"));
    awaitSuspended(tops, false);
    children.forEach(link -> suspend(link, false));
    assertNoOtherWorkloads("last", workloads);
    awaitSuspended(tops, false);
    awaitSuspended(children, false);

    workloads.forEach(it -> api.patch(QueuedJobs.WORKLOAD, it, "{'spec': {'active': false}}"));
    awaitSuspended(tops, true);
  }

  /** Creates objects of these kinds that don't say that they are suspended; each owns the next. */
  private List<Link> create(int number, List<String> kinds) {
    List<Link> chain = new ArrayList<>();
    for (String kind : kinds) {
      KindRow row =
          KindRow.all().stream().filter(it -> it.name().equals(kind)).findFirst().orElseThrow();
      ObjectNode object = row.manifest().runningFor("30m").jobs().getFirst().deepCopy();
      Link link = new Link(row, "link-" + number + "-" + chain.size());
      ObjectNode metadata = object.withObjectProperty("metadata").put("name", link.name());
      ObjectNode labels = metadata.putObject("labels");
      // Another class plays controllers in the same control plane at the same time.
      KindPlayer.LEFT_ALONE.forEach(labels::put);
      if (chain.isEmpty()) {
        labels.put("kueue.x-k8s.io/queue-name", "lq");
      } else {
        own(metadata, chain.getLast());
      }
      if (kind.equals("job")) {
        // Its pods may be stopped before the Job itself is: it has to outlive that.
        object.withObjectProperty("spec").put("backoffLimit", PATIENT);
      }
      cluster.applyText(object.toString());
      chain.add(link);
    }
    return chain;
  }

  private void own(ObjectNode metadata, Link parent) {
    JsonNode owner = api.get(parent.row().type(), parent.name());
    metadata
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", owner.path("apiVersion").asText())
        .put("kind", owner.path("kind").asText())
        .put("name", parent.name())
        .put("uid", owner.at("/metadata/uid").asText())
        .put("controller", true);
  }

  private void suspend(Link link, boolean suspended) {
    List<String> path = link.row().description().suspendField();
    api.patch(
        link.row().type(),
        link.name(),
        "{'" + String.join("': {'", path) + "': " + suspended + "}".repeat(path.size()));
  }

  private void awaitSuspended(List<Link> chain, boolean suspended) {
    for (Link link : chain) {
      await(link + " suspended=" + suspended)
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          api.get(link.row().type(), link.name())
                              .at(link.row().suspendPointer())
                              .asBoolean())
                      .isEqualTo(suspended));
    }
  }

  /**
   * Asserts that there is a Workload for each chain and no other. A Job that is submitted now has
   * its Workload later than what was there before it.
   */
  private void assertNoOtherWorkloads(String later, List<String> names) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: elsewhere}}
        spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: none}]}}}
        """
            .formatted(later));
    String other = api.workloadOf("batch/v1/Job", later);
    List<String> expected = new ArrayList<>(names);
    expected.add(other);
    assertThat(api.workloads().stream().map(it -> it.at("/metadata/name").asText()))
        .containsExactlyInAnyOrderElementsOf(expected);
    api.delete("batch/v1/Job", later);
    api.awaitGone(QueuedJobs.WORKLOAD, other);
  }
}
