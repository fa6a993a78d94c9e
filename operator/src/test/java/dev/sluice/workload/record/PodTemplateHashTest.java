package dev.sluice.workload.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Templates that run the same pods have the same fingerprint, and only those. */
class PodTemplateHashTest {

  private static final String BASE =
      "{containers: [{name: a, image: 'x:1', resources: {requests: {cpu: '1', memory: 1Gi}}}]}";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{containers: [{image: 'x:1', name: a, resources: {requests: {memory: 1Gi, cpu: '1'}}}]}",
        "{containers: [{name: a, image: 'x:1', resources: {requests: {cpu: 1000m, memory:"
            + " 1024Mi}}}]}",
        "{containers: [{name: a, image: 'x:1', resources: {requests: {cpu: 1, memory: 1Gi}}}]}",
        "{containers: [{name: a, image: 'x:1', env: [], args: null, command: [],"
            + " securityContext: {}, resources: {limits: {}, requests: {cpu: '1', memory: 1Gi}}}],"
            + " initContainers: [], tolerations: []}",
        "{containers: [{name: a, image: 'x:1', imagePullPolicy: IfNotPresent,"
            + " terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File,"
            + " resources: {requests: {cpu: '1', memory: 1Gi}}}]}",
        "{nodeSelector: {a: b}, restartPolicy: Never, affinity: {nodeAffinity: {}}, containers:"
            + " [{name: a, image: 'x:1', resources: {requests: {cpu: '1', memory: 1Gi}}}]}",
      })
  void sameTemplates(String other) throws JsonProcessingException {
    assertThat(of(other)).isEqualTo(of(BASE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{containers: [{name: b, image: 'x:1', resources: {requests: {cpu: '1', memory: 1Gi}}}]}",
        "{containers: [{name: a, image: 'x:1', resources: {requests: {cpu: '2', memory: 1Gi}}}]}",
        "{containers: [{name: a, image: 'x:1', resources: {limits: {cpu: '1', memory: 1Gi}}}]}",
        "{initContainers: [{name: a, image: 'x:1', resources: {requests: {cpu: '1', memory:"
            + " 1Gi}}}]}",
        "{containers: [{name: a, image: 'x:1', imagePullPolicy: Always,"
            + " resources: {requests: {cpu: '1', memory: 1Gi}}}]}",
        "{resourceClaims: [{name: gpu, resourceClaimTemplateName: two}], containers: [{name: a,"
            + " image: 'x:1', resources: {requests: {cpu: '1', memory: 1Gi}}}]}",
      })
  void differentTemplates(String other) throws JsonProcessingException {
    assertThat(of(other).full()).isNotEqualTo(of(BASE).full());
    assertThat(of(other).withoutTolerations()).isNotEqualTo(of(BASE).withoutTolerations());
  }

  @Test
  void tolerationsCountOnlyInTheFullOne() throws JsonProcessingException {
    PodTemplateHash tolerant =
        of(
            BASE.replace(
                "{containers", "{tolerations: [{key: spot, operator: Exists}], containers"));
    assertThat(tolerant.full()).isNotEqualTo(of(BASE).full());
    assertThat(tolerant.withoutTolerations()).isEqualTo(of(BASE).withoutTolerations());
  }

  @Test
  void ofRepeatedVariablesTheLastCounts() throws JsonProcessingException {
    assertThat(of("{containers: [{name: a, env: [{name: X, value: '1'}, {name: X, value: '2'}]}]}"))
        .isEqualTo(of("{containers: [{name: a, env: [{name: X, value: '2'}]}]}"));
  }

  private static PodTemplateHash of(String yaml) throws JsonProcessingException {
    return PodTemplateHash.of(new ObjectMapper(new YAMLFactory()).readTree(yaml));
  }
}
