package dev.sluice.server.endpoints;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.server.auth.RequestAuthorizer;
import dev.sluice.server.endpoints.ProfileEndpoint.ProcessProfiles;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfileEndpointTest {

  private final ProfileEndpoint open = new ProfileEndpoint(Optional.empty(), new JavaProfiles());

  private static Request request(String method, String path, String query) {
    return new Request(method, path, query, Map.of(), RequestBody.EMPTY);
  }

  private String text(String path, String query) {
    Response answer = open.answer(request("GET", path, query));
    assertThat(answer.status()).isEqualTo(200);
    return new String(answer.body(), UTF_8);
  }

  @Test
  void tellsOfThreadsAndOfTheHeap() {
    assertThat(text("/debug/pprof", "")).contains("/debug/pprof/threads");
    assertThat(text("/debug/pprof/threads", "")).contains("\"" + Thread.currentThread().getName());
    assertThat(text("/debug/pprof/heap", "")).contains("java.lang.String ");
    assertThat(text("/debug/pprof/heap", "gc=1")).contains("java.lang.String ");
  }

  @Test
  void recordsForSomeSeconds(@TempDir Path directory) throws Exception {
    Response answer = open.answer(request("GET", "/debug/pprof/profile", "seconds=1"));

    assertThat(answer.status()).isEqualTo(200);
    Path file = Files.write(directory.resolve("a.jfr"), answer.body());
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(events)
        .extracting(event -> event.getEventType().getName())
        .contains("jdk.JVMInformation")
        .doesNotContain("jdk.InitialEnvironmentVariable", "jdk.InitialSystemProperty");
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /debug/pprof/profile, seconds=0, 400",
    "GET, /debug/pprof/profile, seconds=301, 400",
    "GET, /debug/pprof/profile, seconds=, 400",
    "GET, /debug/pprof/profile, seconds=1e9, 400",
    "GET, /debug/pprof/profile, a=b&seconds=99999999999, 400",
    "GET, /debug/pprof/../x, '', 404",
    "GET, /, '', 404",
    "POST, /debug/pprof/heap, '', 405",
  })
  void refusesOtherRequests(String method, String path, String query, int status) {
    assertThat(open.answer(request(method, path, query)).status()).isEqualTo(status);
  }

  @Test
  void usersWhoMayNotReadProfilesGetNone() {
    ProfileEndpoint guarded =
        new ProfileEndpoint(
            Optional.of(
                token ->
                    token.equals("good")
                        ? RequestAuthorizer.Decision.ALLOWED
                        : RequestAuthorizer.Decision.FORBIDDEN),
            new JavaProfiles());

    assertThat(guarded.answer(request("GET", "/debug/pprof/threads", "")).status()).isEqualTo(401);
    assertThat(guarded.answer(as("poor")).status()).isEqualTo(403);
    assertThat(guarded.answer(as("good")).status()).isEqualTo(200);
  }

  private static Request as(String token) {
    return new Request(
        "GET",
        "/debug/pprof/",
        "",
        Map.of("authorization", List.of("Bearer " + token)),
        RequestBody.EMPTY);
  }

  @Test
  void oneProfileIsTakenAtATime() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    ProfileEndpoint slow =
        new ProfileEndpoint(
            Optional.empty(),
            new ProcessProfiles() {
              @Override
              public String threads() {
                begun.countDown();
                try {
                  end.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                return "all";
              }

              @Override
              public String heap(boolean collect) {
                return "";
              }

              @Override
              public Response recording(int seconds) {
                return Response.text(200, "");
              }
            });
    var first =
        CompletableFuture.supplyAsync(
            () -> slow.answer(request("GET", "/debug/pprof/threads", "")).status());
    begun.await();

    assertThat(slow.answer(request("GET", "/debug/pprof/heap", "")).status()).isEqualTo(429);

    end.countDown();
    assertThat(first.get()).isEqualTo(200);
    assertThat(slow.answer(request("GET", "/debug/pprof/heap", "")).status()).isEqualTo(200);
  }
}
