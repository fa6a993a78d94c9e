package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.DeclaredJobKind;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.util.List;
import org.junit.jupiter.api.Test;

@EnableKubernetesMockClient
class DeclaredKindsTest {

  @SuppressWarnings("NullAway.Init")
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init")
  KubernetesClient client;

  private void hasJobKinds(String... items) {
    server
        .expect()
        .get()
        .withPath("/apis/sluice.dev/v1alpha1/jobkinds")
        .andReturn(200, "{\"items\": [" + String.join(", ", items) + "]}")
        .always();
  }

  private void permits(boolean allowed) {
    server
        .expect()
        .post()
        .withPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
        .andReturn(
            201,
            new SelfSubjectAccessReviewBuilder()
                .withNewStatus()
                .withAllowed(allowed)
                .endStatus()
                .build())
        .always();
  }

  private static String jobKind(String name, String kind) {
    return """
        {"metadata": {"name": "%s"}, "spec": {"version": "v1", "kind": "%s",
          "podSets": [{"name": "main", "template": ".spec.template"}],
          "status": {"running": [{"condition": "Running"}], "succeeded": [{"condition": "Complete"}],
            "failed": [{"condition": "Failed"}]}}}
        """
        .formatted(name, kind);
  }

  private List<DeclaredJobKind> read() {
    return DeclaredKinds.read(client, DeclaredKinds.known(List.of()));
  }

  @Test
  void ofTwoForOneKindTheFirstByNameIsFollowed() {
    hasJobKinds(
        jobKind("streams.example.org", "Flow"),
        jobKind("flows.example.org", "Flow"),
        jobKind("flows.example.com", "Flow"));
    permits(true);
    assertThat(read())
        .extracting(DeclaredJobKind::name)
        .containsExactly("flows.example.com", "flows.example.org");
  }

  @Test
  void kindsThatAreBuiltInAndFaultyOnesAreNotFollowed() {
    hasJobKinds(
        jobKind("jobsets.jobset.x-k8s.io", "JobSet"),
        jobKind("workflows.argoproj.io", "Workflow"),
        jobKind("flows.example.org", "flow"),
        "{\"metadata\": {\"name\": \"empty.example.org\"}}");
    permits(true);
    assertThat(read()).isEmpty();
  }

  @Test
  void aKindThatTheOperatorMayNotHandleIsNotFollowed() {
    hasJobKinds(jobKind("flows.example.org", "Flow"));
    permits(false);
    assertThat(read()).isEmpty();
  }

  /** As for a moment after the definition was installed; of a code that no client sends again. */
  @Test
  void anApiServerThatCannotTellYetHoldsNoStartUp() {
    server
        .expect()
        .get()
        .withPath("/apis/sluice.dev/v1alpha1/jobkinds")
        .andReturn(400, "{\"kind\": \"Status\", \"message\": \"storage is (re)initializing\"}")
        .always();
    assertThat(read()).isEmpty();
  }

  @Test
  void aClusterWithoutTheDefinitionDeclaresNothing() {
    assertThat(read()).isEmpty();
  }
}
