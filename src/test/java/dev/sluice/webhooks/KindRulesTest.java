package dev.sluice.webhooks;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.JobKindDescription;
import dev.sluice.jobs.integrations.BuiltInIntegrations;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the webhooks of kinds with a suspend field set and refuse by the rules of each kind. */
class KindRulesTest {

  private static final Map<String, AdmissionFunction> FUNCTIONS = functions();
  private static final JsonNode JOB_SET =
      yaml(
          """
          apiVersion: jobset.x-k8s.io/v1alpha2
          kind: JobSet
          metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: training}}
          spec:
            suspend: true
            replicatedJobs:
            - {name: a, template: {spec: {template: {spec: {containers: [{name: c}]}}}}}
            - {name: b, template: {spec: {template: {spec: {containers: [{name: c}]}}}}}
          """);

  private static Map<String, AdmissionFunction> functions() {
    WebhookSettings some = Reviews.settings();
    Set<String> frameworks =
        BuiltInIntegrations.descriptions().stream()
            .map(JobKindDescription::kind)
            .map(kind -> kind.framework())
            .collect(Collectors.toSet());
    return Webhooks.functions(
        new WebhookSettings(
            false, some.managedNamespaces(), frameworks, some.gates(), some.working()),
        Reviews.Cluster.EMPTY);
  }

  private static AdmissionResult review(String prefix, AdmissionRequest request) {
    JsonNode object = request.object();
    String path =
        "/%s-%s-%s"
            .formatted(
                prefix,
                object.path("apiVersion").asText().replace('.', '-').replace('/', '-'),
                object.path("kind").asText().toLowerCase(Locale.ROOT));
    return Objects.requireNonNull(FUNCTIONS.get(path), path).review(request);
  }

  private static List<String> refused(AdmissionRequest request) {
    return messages(review("validate", request));
  }

  @Test
  void aTemplateAsksForATopologyByTheRules() {
    String annotations = "/spec/replicatedJobs/1/template/spec/template/metadata/annotations";
    JsonNode both =
        edited(
            JOB_SET,
            set(
                annotations,
                "{kueue.x-k8s.io/podset-required-topology: rack,"
                    + " kueue.x-k8s.io/podset-preferred-topology: block}"));

    assertThat(refused(create(JOB_SET))).isEmpty();
    assertThat(refused(create(both)))
        .singleElement()
        .asString()
        .startsWith(
            "spec.replicatedJobs[1].template.spec.template.metadata.annotations: Invalid value: ")
        .endsWith("must not contain more than one topology annotation");
    assertThat(refused(update(both, both))).as("it had the error before").isEmpty();
  }
}
