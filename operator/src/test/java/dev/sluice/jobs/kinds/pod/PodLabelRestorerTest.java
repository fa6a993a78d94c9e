package dev.sluice.jobs.kinds.pod;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.controller.JobClient;
import dev.sluice.jobs.controller.JobEvents;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.pod.PodController.PodLabelRestorer;
import dev.sluice.kube.client.ApiOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What is done about a pod whose watch has ended. */
class PodLabelRestorerTest {

  private static final GivenPod RUNNING = GivenPod.pod("a").running();
  private static final JobRef POD = RUNNING.view().job().ref();

  private final List<String> calls = new ArrayList<>();

  private Optional<Duration> restore(Optional<ObjectNode> object) throws InterruptedException {
    JobEvents events =
        new JobEvents() {
          @Override
          public void normal(JobRef job, String reason, String note) {
            calls.add(reason);
          }

          @Override
          public void warning(JobRef job, String reason, String note) {
            calls.add(reason);
          }
        };
    return new PodLabelRestorer(new Api(object), events, gone -> calls.add("gone " + gone.name()))
        .restore(POD);
  }

  @Test
  void aPodThatLostItsLabelGetsItBack() throws Exception {
    ObjectNode unlabelled = GivenPod.pod("a").running().without(KueueConstants.MANAGED).object();
    assertThat(restore(Optional.of(unlabelled))).contains(Duration.ofSeconds(30));
    assertThat(calls)
        .containsExactly(
            "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/managed\":\"true\"}}}", "WriteRefused");
  }

  @Test
  void aPodThatHasItsLabelIsLeftAlone() throws Exception {
    assertThat(restore(Optional.of(RUNNING.object()))).isEmpty();
    assertThat(calls).isEmpty();
  }

  @Test
  void aDeletedPodIsForgottenEvenIfAnotherHasItsName() throws Exception {
    assertThat(restore(Optional.empty())).isEmpty();
    ObjectNode other = GivenPod.pod("a").object();
    other.withObject("/metadata").put("uid", "another");
    assertThat(restore(Optional.of(other))).isEmpty();
    assertThat(calls).containsExactly("gone a", "gone a");
  }

  /** An API server with one pod at most, which refuses writes. */
  private final class Api implements JobClient {

    private final Optional<ObjectNode> object;

    private Api(Optional<ObjectNode> object) {
      this.object = object;
    }

    @Override
    public CompletableFuture<ApiOutcome> patch(JobRef job, long version, JobPatch patch) {
      calls.add(patch.body().toString());
      return CompletableFuture.completedFuture(new ApiOutcome.Refused(403, "protected"));
    }

    @Override
    public CompletableFuture<ApiOutcome> delete(JobRef job) {
      throw new AssertionError("nothing is deleted");
    }

    @Override
    public CompletableFuture<ApiOutcome> create(String collection, ObjectNode made) {
      throw new AssertionError("nothing is created");
    }

    @Override
    public CompletableFuture<ApiOutcome> delete(String path, String uid) {
      throw new AssertionError("nothing is deleted");
    }

    @Override
    public void list(String path, Consumer<JsonNode> each) {
      throw new IllegalStateException("nothing is listed");
    }

    @Override
    public CompletableFuture<Optional<ObjectNode>> read(String path) {
      return CompletableFuture.completedFuture(object);
    }
  }
}
