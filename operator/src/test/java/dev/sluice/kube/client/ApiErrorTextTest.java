package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.file.NoSuchFileException;
import java.security.cert.CertPathBuilderException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

class ApiErrorTextTest {

  @Test
  void aRefusalIsTheSentenceOfTheApiServer() {
    String said = "workloads.kueue.x-k8s.io is forbidden: User \"bob\" cannot list workloads";
    KubernetesClientException failure =
        new KubernetesClientException(
            "Failure executing: GET at: https://x. Message: Status(apiVersion=v1, code=403)",
            403,
            new StatusBuilder().withCode(403).withMessage(said).build());

    assertThat(ApiErrorText.of(failure)).isEqualTo(said);
  }

  @Test
  void aMissingKindIsSaidToNeedItsDefinition() {
    KubernetesClientException failure =
        new KubernetesClientException(
            "dump",
            404,
            new StatusBuilder()
                .withCode(404)
                .withMessage("the server could not find the requested resource")
                .build());

    assertThat(ApiErrorText.of(failure))
        .isEqualTo(
            "the API server does not know this kind; are the definitions of kueue.x-k8s.io"
                + " installed?");
  }

  @Test
  void whatIsNotReachedIsSaidWithItsCause() {
    assertThat(
            ApiErrorText.of(
                new KubernetesClientException(
                    "An error has occurred.", new IOException(new ConnectException("refused")))))
        .isEqualTo("the API server can't be reached: refused");
    assertThat(
            ApiErrorText.of(
                new KubernetesClientException("x", new UnknownHostException("nowhere.test"))))
        .isEqualTo("the API server can't be reached: the host nowhere.test is not known");
  }

  @Test
  void aCertificateThatIsNotTrustedIsToldWithoutNamesOfClasses() {
    SSLHandshakeException tls =
        new SSLHandshakeException("(certificate_unknown) PKIX path building");
    tls.initCause(new CertPathBuilderException("unable to find valid certification path"));

    assertThat(ApiErrorText.of(tls))
        .isEqualTo("its certificate is not signed by an authority that is trusted here");
    assertThat(ApiErrorText.of(new KubernetesClientException("x", tls)))
        .isEqualTo(
            "the API server can't be reached: its certificate is not signed by the authority that"
                + " the kubeconfig names (certificate-authority-data)");
    assertThat(ApiErrorText.of(new SSLHandshakeException("Received fatal alert")))
        .isEqualTo("TLS failed: Received fatal alert");
  }

  @Test
  void aMissingFileIsNamed() {
    assertThat(ApiErrorText.of(new NoSuchFileException("/no/such")))
        .isEqualTo("/no/such does not exist");
  }
}
