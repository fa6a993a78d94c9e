package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.workload.record.CachedWorkload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/** Workloads whose owners may be gone, and what the API server says of these. */
class OwnerlessWorkloadsTest {

  private final ScriptedApi api = new ScriptedApi();
  private final Deque<Runnable> delayed = new ArrayDeque<>();
  private boolean cached;
  private boolean external;

  private void run(GivenWorkload given) {
    CachedWorkload workload = given.get();
    api.cached.add(workload);
    try (OwnerlessWorkloads ownerless =
        new OwnerlessWorkloads(
            api.dependencies(),
            WorkQueueSettings.of(Runnable::run, (delay, task) -> delayed.add(task)),
            () -> true,
            (namespace, owner) -> cached,
            owner -> external)) {
      ownerless.synced();
      ownerless.changed(null, workload);
      while (!delayed.isEmpty()) {
        delayed.remove().run();
      }
    }
  }

  private static GivenWorkload workload() {
    return workloadOf(job())
        .unowned()
        .finalizers(KueueConstants.RESOURCE_IN_USE)
        .ownedBy("example.test/v1", "Flow", "flow");
  }

  private void serves(String path, String yaml) {
    try {
      JsonNode object = new YAMLMapper().readTree(yaml);
      api.objects.put(path, (ObjectNode) object);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void servesTheKind() {
    serves("/apis/example.test", "{}");
    serves("/apis/example.test/v1", "resources: [{name: flows, kind: Flow, namespaced: true}]");
  }

  private void hasTheOwner(CachedWorkload workload) {
    CachedWorkload.Owner owner = workload.coOwners().getFirst();
    serves(
        "/apis/example.test/v1/namespaces/team/flows/" + owner.name(),
        "metadata: {uid: " + owner.uid() + "}");
  }

  private static String owner() {
    return workload().get().coOwners().getFirst().uid();
  }

  @Test
  void areFinishedWhereTheKindIsNotServed() {
    run(workload());
    assertThat(api.calls).hasSize(1).first().asString().startsWith("patch status of Workload");
  }

  @Test
  void areFinishedWhereTheOwnerDoesNotExist() {
    servesTheKind();
    run(workload());
    assertThat(api.calls).hasSize(1).first().asString().startsWith("patch status of Workload");
  }

  @Test
  void loseTheirFinalizerOnceTheyAreFinishedOrDeleted() {
    servesTheKind();
    run(workload().condition("Finished", "True", "OwnerNotFound", ""));
    assertThat(api.calls).hasSize(1).first().asString().startsWith("patch Workload");
    api.calls.clear();
    api.cached.clear();
    run(workload().deleting());
    assertThat(api.calls).hasSize(1).first().asString().startsWith("patch Workload");
  }

  @Test
  void areLeftAloneWhileAnOwnerExistsOrIsCached() {
    servesTheKind();
    hasTheOwner(workload().get());
    run(workload());
    cached = true;
    api.objects.clear();
    run(workload());
    assertThat(api.calls).isEmpty();
  }

  @Test
  void areLeftAloneWhereOnlyTheVersionIsNotServed() {
    serves("/apis/example.test", "{}");
    run(workload());
    assertThat(api.calls).isEmpty();
  }

  @Test
  void areJudgedByTheVersionThatServesTheirKind() {
    serves("/apis/example.test", "versions: [{groupVersion: example.test/v2}]");
    serves("/apis/example.test/v1", "resources: [{name: lakes, kind: Lake, namespaced: true}]");
    serves("/apis/example.test/v2", "resources: [{name: flows, kind: Flow, namespaced: true}]");
    serves("/apis/example.test/v2/namespaces/team/flows/flow", "metadata: {uid: " + owner() + "}");
    run(workload());
    assertThat(api.calls).isEmpty();

    api.objects.remove("/apis/example.test/v2/namespaces/team/flows/flow");
    run(workload());
    assertThat(api.calls).hasSize(1).first().asString().startsWith("patch status of Workload");
  }

  @Test
  void thatAreDeletedAndOfAnUnreadableKindWaitForAnotherControllerOnlyIfThereIsOne() {
    serves("/apis/example.test", "{}");
    external = true;
    run(workload().deleting());
    assertThat(api.calls).isEmpty();
    external = false;
    api.cached.clear();
    run(workload().deleting());
    assertThat(api.calls).hasSize(1).first().asString().startsWith("patch Workload");
  }
}
