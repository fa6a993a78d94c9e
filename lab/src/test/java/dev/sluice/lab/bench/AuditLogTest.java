package dev.sluice.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditLogTest {

  private static final String START =
      """
      {"verb":"patch","user":{"username":"us"},"requestURI":"/apis/batch/v1/namespaces/n/jobs/j","objectRef":{"resource":"jobs","apiGroup":"batch"}}
      """;
  private static final String STATUS =
      """
      {"verb":"update","user":{"username":"them"},"requestURI":"/s","objectRef":{"resource":"jobs","apiGroup":"batch","subresource":"status"}}
      """;
  private static final String DRY_RUN =
      """
      {"verb":"create","user":{"username":"us"},"requestURI":"/apis/batch/v1/jobs?dryRun=All","objectRef":{"resource":"jobs","apiGroup":"batch"}}
      """;
  private static final String QUESTION =
      """
      {"verb":"create","user":{"username":"us"},"requestURI":"/q","objectRef":{"resource":"subjectaccessreviews","apiGroup":"authorization.k8s.io"}}
      """;

  private static final String EVENT =
      """
      {"verb":"create","user":{"username":"us"},"requestURI":"/e","objectRef":{"resource":"events","apiGroup":"events.k8s.io"},"requestObject":{"reason":"Admitted"}}
      """;

  @Test
  void eventsThatAreCreatedAreCountedByReason(@TempDir Path directory) throws IOException {
    AuditLog log = AuditLog.in(directory);
    String told = EVENT.replace("Admitted", "Started");
    Files.writeString(directory.resolve("audit.log"), EVENT + told + EVENT);

    assertThat(log.writes().get("us"))
        .containsOnly(
            Map.entry(new RequestKey("POST", "events.k8s.io", "events", "", "Admitted"), 2L),
            Map.entry(new RequestKey("POST", "events.k8s.io", "events", "", "Started"), 1L));
  }

  @Test
  void writesAreCountedByUserAndTheLogIsReadOn(@TempDir Path directory) throws IOException {
    AuditLog log = AuditLog.in(directory);
    Path file = directory.resolve("audit.log");
    assertThat(log.arguments())
        .contains("--audit-log-path=" + file)
        .contains("--audit-policy-file=" + directory.resolve("audit-policy.yaml"));
    assertThat(directory.resolve("audit-policy.yaml")).isNotEmptyFile();

    String half = STATUS.substring(0, 30);
    Files.writeString(file, START + DRY_RUN + QUESTION + START + half);
    RequestKey start = new RequestKey("PATCH", "batch", "jobs", "");
    assertThat(log.writes()).containsExactly(Map.entry("us", Map.of(start, 2L)));

    Files.writeString(file, STATUS.substring(30) + START, StandardOpenOption.APPEND);
    assertThat(log.writes())
        .containsOnly(
            Map.entry("us", Map.of(start, 3L)),
            Map.entry("them", Map.of(new RequestKey("PUT", "batch", "jobs", "status"), 1L)));
  }
}
