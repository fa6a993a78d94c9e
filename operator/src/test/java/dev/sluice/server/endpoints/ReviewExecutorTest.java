package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.server.endpoints.WebhookEndpoint.ReviewExecutor;
import dev.sluice.server.endpoints.WebhookEndpoint.ReviewExecutor.GivenUpException;
import dev.sluice.server.endpoints.WebhookEndpoint.ReviewExecutor.Reason;
import dev.sluice.server.endpoints.WebhookEndpoint.ReviewExecutor.Requester;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reviews that never end, and those of others. */
class ReviewExecutorTest {

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Response DONE = Response.text(200, "done");
  private static final Requester OTHER = new Requester("other", "bob");

  private final CountDownLatch end = new CountDownLatch(1);
  private final AtomicInteger started = new AtomicInteger();
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void release() {
    end.countDown();
    callers.shutdownNow();
  }

  private static ReviewExecutor executor(int threads, int waiting, Duration deadline) {
    return new ReviewExecutor(
        new ReviewExecutor.Limits(threads, 1_000_000, waiting, 1_000_000, deadline));
  }

  private Response endless() {
    started.incrementAndGet();
    boolean interrupted = false;
    while (end.getCount() > 0) {
      try {
        end.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return DONE;
  }

  private CompletableFuture<Response> send(ReviewExecutor reviews, Requester requester) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return reviews.answer(requester, 10, 10, this::endless);
          } catch (GivenUpException | InterruptedException e) {
            throw new CompletionException(e);
          }
        },
        callers);
  }

  @Test
  void aNamespaceHasHalfOfTheThreads() throws Exception {
    ReviewExecutor reviews = executor(4, 100, LONG);
    List<CompletableFuture<Response>> sent = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      sent.add(send(reviews, new Requester("team", "user-" + i)));
    }
    await().until(() -> started.get() == 2);

    assertThat(reviews.answer(OTHER, 10, 10, () -> DONE)).isSameAs(DONE);
    assertThat(started).hasValue(2);
    end.countDown();
    sent.forEach(each -> assertThat(each.join()).isSameAs(DONE));
    assertThat(started).hasValue(20);
  }

  @Test
  void aUserHasHalfOfTheThreadsUnlessItWritesForEverybody() throws Exception {
    ReviewExecutor reviews = executor(4, 100, LONG);
    for (int i = 0; i < 20; i++) {
      send(reviews, new Requester("team-" + i, "system:serviceaccount:team-1:robot"));
    }
    await().until(() -> started.get() == 2);

    assertThat(reviews.answer(OTHER, 10, 10, () -> DONE)).isSameAs(DONE);
    assertThat(started).hasValue(2);
    for (int i = 20; i < 24; i++) {
      send(reviews, new Requester("team-" + i, "system:serviceaccount:kube-system:job-controller"));
    }
    await().until(() -> started.get() == 4);
  }

  @Test
  void aReviewWithoutEndIsGivenUpAndItsThreadReplaced() throws Exception {
    ReviewExecutor reviews = executor(2, 100, Duration.ofMillis(50));
    List<CompletableFuture<Response>> sent = new ArrayList<>();
    for (String team : List.of("a", "b")) {
      sent.add(send(reviews, new Requester(team, team)));
    }

    for (CompletableFuture<Response> each : sent) {
      assertThatThrownBy(each::join)
          .cause()
          .isInstanceOfSatisfying(
              GivenUpException.class, it -> assertThat(it.reason()).isEqualTo(Reason.DEADLINE))
          .hasMessage("its review took more than 0.05 s and was given up");
    }
    assertThat(reviews.answer(OTHER, 10, 10, () -> DONE)).isSameAs(DONE);
    // the threads that go on count for those who began
    assertThatThrownBy(send(reviews, new Requester("a", "x"))::join)
        .cause()
        .hasMessage("too many reviews wait for namespace \"a\", try again");
  }

  @Test
  void whatFindsNoRoomToWaitIsRefusedAtOnce() {
    ReviewExecutor reviews = executor(2, 3, LONG);
    List<CompletableFuture<Response>> sent = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      sent.add(send(reviews, new Requester("", "alice")));
    }

    await().until(() -> sent.stream().filter(CompletableFuture::isDone).count() == 6);
    end.countDown();
    assertThat(sent.stream().filter(it -> it.handle((answer, e) -> e == null).join())).hasSize(4);
  }

  @Test
  void whatAReviewThrowsIsThrown() {
    ReviewExecutor reviews = executor(2, 3, LONG);

    assertThatThrownBy(
            () ->
                reviews.answer(
                    OTHER,
                    10,
                    10,
                    () -> {
                      throw new IllegalStateException("bug");
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("bug");
  }

  /** Whatever the registration says about failures: the object may be one that must be held. */
  @Test
  void theObjectOfAReviewThatIsGivenUpIsRefused() {
    String path = "/validate-batch-v1-job";
    WebhookRouter router =
        new WebhookRouter(
            Map.of(
                path,
                request -> {
                  endless();
                  return AdmissionResult.allowed();
                }));
    List<String> told = new ArrayList<>();
    WebhookEndpoint endpoint =
        new WebhookEndpoint(
            router,
            new ConversionWebhook(new HubConverter()),
            false,
            (webhook, reason) -> told.add(webhook + " " + reason),
            executor(2, 10, Duration.ofMillis(50)));
    String body =
        """
        {"kind": "AdmissionReview", "request": {"uid": "u1", "kind": {"group": "batch", "kind": "Job"},
         "name": "a", "namespace": "team", "operation": "CREATE",
         "userInfo": {"username": "alice", "groups": ["x"]}, "object": {}}}
        """;
    Response response =
        endpoint.answer(
            new Request(
                "POST",
                path,
                "",
                Map.of(),
                RequestBody.of(body.getBytes(StandardCharsets.UTF_8)),
                List.of()));

    assertThat(response.status()).isEqualTo(200);
    assertThat(new String(response.body(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":"
                + "{\"uid\":\"u1\",\"allowed\":false,\"status\":{\"status\":\"Failure\",\"message\":\"the"
                + " request was not reviewed, and so is refused: its review took more than 0.05 s"
                + " and was given up\",\"reason\":\"Timeout\",\"code\":504}}}");
    assertThat(told).containsExactly(path + " Deadline");
  }
}
