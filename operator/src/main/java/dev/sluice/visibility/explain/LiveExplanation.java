package dev.sluice.visibility.explain;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.certificates.TlsContexts;
import dev.sluice.kube.certificates.TlsContexts.ClientCertificate;
import dev.sluice.kube.client.ApiErrorText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Queries a running operator. A failed query becomes one line of text. */
final class LiveExplanation {

  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int OK = 200;

  private static final String WHERE_THE_CA_IS =
      "it is ca.crt of Secret kueue-webhook-server-cert in the operator's namespace, unless the"
          + " installation names certificates of its own";

  private final URI operator;
  private final Optional<Path> authority;
  private final Optional<String> token;
  private final Optional<ClientCertificate> certificate;

  /**
   * Creates a client of an operator.
   *
   * @param authority file with the certificate authority of the operator; empty: the default of
   *     Java
   * @param token bearer token of the user
   * @param certificate certificate of the user, which is shown if there is no token
   */
  LiveExplanation(
      URI operator,
      Optional<Path> authority,
      Optional<String> token,
      Optional<ClientCertificate> certificate) {
    this.certificate = certificate;
    this.operator = operator;
    this.authority = authority;
    this.token = token;
  }

  /**
   * What the operator says, or why it says nothing.
   *
   * @param answered whether it answered what was asked
   */
  record Lines(boolean answered, List<String> text) {

    private static Lines none(String why) {
      return new Lines(false, List.of(why));
    }
  }

  /** Why a Workload is pending. */
  List<String> lines(String namespace, String name) {
    return ask(
            "/explain/v1/namespaces/" + namespace + "/workloads/" + name,
            LiveExplanation::explanationLines)
        .text();
  }

  /** What the nodes of a flavor have, and who uses them. */
  Lines topology(String flavor) {
    return ask(
        "/explain/v1/topologies/" + flavor,
        answer -> {
          List<String> lines = new ArrayList<>();
          answer.path("text").forEach(line -> lines.add(line.asText()));
          return lines;
        });
  }

  private Lines ask(String path, Function<JsonNode, List<String>> lines) {
    URI url = operator.resolve(path);
    HttpRequest.Builder request = HttpRequest.newBuilder(url).timeout(TIMEOUT);
    if (token.isEmpty() && certificate.isEmpty()) {
      return Lines.none(
          "(the operator was not asked: it knows people by token or certificate, and the kubeconfig"
              + " has neither; give a token with --operator-token)");
    }
    if (!confidential(url)) {
      return Lines.none(
          "(the operator at %s was not asked: your %s is only sent over https)"
              .formatted(operator, token.isPresent() ? "token" : "certificate"));
    }
    token.ifPresent(bearer -> request.header("Authorization", "Bearer " + bearer));
    try (HttpClient client = client()) {
      HttpResponse<String> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != OK) {
        return Lines.none(
            "(the operator at %s answered %d: %s)"
                .formatted(operator, response.statusCode(), response.body().strip()));
      }
      return new Lines(true, lines.apply(JsonMappers.JSON.readTree(response.body())));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Lines(false, List.of());
    } catch (IOException | GeneralSecurityException e) {
      return Lines.none(
          "(the operator at %s could not be asked: %s)".formatted(operator, message(e)));
    }
  }

  /** What went wrong. Of a certificate that isn't trusted it says where its authority is. */
  private String message(Exception failure) {
    if (ApiErrorText.untrusted(failure)) {
      return authority
          .map(
              file ->
                  "its certificate is not signed by the CA of --operator-ca, %s; %s"
                      .formatted(file, WHERE_THE_CA_IS))
          .orElse(
              "its certificate is not signed by an authority that is trusted here; name its CA with"
                  + " --operator-ca FILE; "
                  + WHERE_THE_CA_IS);
    }
    return failure instanceof IOException io
        ? ApiErrorText.of(io)
        : String.valueOf(failure.getMessage());
  }

  private static boolean confidential(URI url) {
    return "https".equals(url.getScheme());
  }

  private static List<String> explanationLines(JsonNode answer) {
    List<String> lines = new ArrayList<>();
    if (!answer.path("pending").asBoolean()) {
      lines.add("operator: it is not pending");
    }
    answer.path("text").forEach(line -> lines.add("operator: " + line.asText()));
    return lines;
  }

  private HttpClient client() throws IOException, GeneralSecurityException {
    Optional<String> trusted =
        authority.isPresent() ? Optional.of(Files.readString(authority.get())) : Optional.empty();
    return HttpClient.newBuilder()
        .connectTimeout(TIMEOUT)
        .sslContext(TlsContexts.client(trusted, token.isPresent() ? Optional.empty() : certificate))
        .build();
  }
}
