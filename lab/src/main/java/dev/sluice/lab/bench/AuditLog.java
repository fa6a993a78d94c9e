package dev.sluice.lab.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The audit log of an API server: who wrote what, and why an Event was created. It tells what the
 * metrics don't, and costs the server a line of text for each write.
 */
final class AuditLog {

  /** Reviews ask something and write nothing, although they are sent as creations. */
  private static final Set<String> QUESTIONS =
      Set.of("authentication.k8s.io", "authorization.k8s.io");

  private static final Map<String, String> VERBS =
      Map.of(
          "create", "POST",
          "update", "PUT",
          "patch", "PATCH",
          "delete", "DELETE",
          "deletecollection", "DELETECOLLECTION");

  private static final String POLICY =
      """
      apiVersion: audit.k8s.io/v1
      kind: Policy
      omitStages: [RequestReceived, ResponseStarted]
      rules:
      - level: None
        verbs: [get, list, watch]
      - level: Request
        verbs: [create]
        resources: [{group: events.k8s.io, resources: [events]}]
      - level: Metadata
      """;

  private final Path policy;
  private final Path log;
  private final Map<String, Map<RequestKey, Long>> writes = new HashMap<>();
  private long read;

  private AuditLog(Path policy, Path log) {
    this.policy = policy;
    this.log = log;
  }

  /** An audit log in this directory, which an API server with {@link #arguments} writes. */
  static AuditLog in(Path directory) throws IOException {
    AuditLog audit =
        new AuditLog(directory.resolve("audit-policy.yaml"), directory.resolve("audit.log"));
    Files.writeString(audit.policy, POLICY);
    return audit;
  }

  /** The arguments of the API server that has it write the log. */
  List<String> arguments() {
    return List.of(
        "--audit-policy-file=" + policy, "--audit-log-path=" + log, "--audit-log-maxsize=8192");
  }

  /** All writes that were answered since the server's start, dry runs left out, by user. */
  synchronized Map<String, Map<RequestKey, Long>> writes() {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      file.seek(read);
      byte[] more = new byte[Math.toIntExact(file.length() - read)];
      file.readFully(more);
      int end = more.length;
      while (end > 0 && more[end - 1] != '\n') {
        end--;
      }
      read += end;
      new String(more, 0, end, StandardCharsets.UTF_8).lines().forEach(this::count);
    } catch (IOException e) {
      throw new UncheckedIOException("can't read " + log, e);
    }
    Map<String, Map<RequestKey, Long>> copy = new TreeMap<>();
    writes.forEach((user, counts) -> copy.put(user, Map.copyOf(counts)));
    return copy;
  }

  private void count(String line) {
    try {
      JsonNode entry = JsonMappers.JSON.readTree(line);
      JsonNode object = entry.path("objectRef");
      String verb = VERBS.getOrDefault(entry.path("verb").asText(), "");
      String group = object.path("apiGroup").asText();
      if (!verb.isEmpty()
          && !QUESTIONS.contains(group)
          && !entry.path("requestURI").asText().contains("dryRun=")) {
        writes
            .computeIfAbsent(entry.at("/user/username").asText(), user -> new HashMap<>())
            .merge(
                new RequestKey(
                    verb,
                    group,
                    object.path("resource").asText(),
                    object.path("subresource").asText(),
                    entry.at("/requestObject/reason").asText()),
                1L,
                Long::sum);
      }
    } catch (JsonProcessingException e) {
      throw new BenchException("a line of " + log + " is no JSON: " + line, e);
    }
  }
}
