package dev.sluice.server.endpoints;

import dev.sluice.api.TextLimits;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.HttpService.HttpLimits;
import dev.sluice.server.http.JsonMemoryEstimate;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import dev.sluice.webhooks.review.WebhookRouter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes admission reviews to the router, and conversion reviews to the conversion webhook. */
public final class WebhookEndpoint implements HttpHandler {

  /** The path of the conversion webhook. */
  public static final String CONVERSION_PATH = "/convert";

  /** The API server converts a whole page of a list with one request. */
  private static final int MAX_CONVERSION = 64 * 1024 * 1024;

  private static final int UNREADABLE = 400;
  private static final int TOO_LARGE = 413;
  private static final int UNAVAILABLE = 503;
  private static final int TIMEOUT = 504;

  /** What the listener hears, by the status that the review is refused with. */
  private static final Map<Integer, String> REASONS =
      Map.of(
          UNREADABLE,
          "Unreadable",
          TOO_LARGE,
          "Size",
          UNAVAILABLE,
          "Overload",
          TIMEOUT,
          "Deadline");

  private static final int MOST_SHOWN = 253;
  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String JSON = "application/json";

  private static final Logger log = LoggerFactory.getLogger(WebhookEndpoint.class);

  private final WebhookRouter router;
  private final ConversionWebhook conversions;
  private final boolean clientsAreKnown;
  private final GivenUpListener listener;
  private final ReviewExecutor reviews;

  /** Hears of reviews that were not computed, and so were refused. */
  @FunctionalInterface
  public interface GivenUpListener {
    /**
     * A review was refused.
     *
     * @param path of the webhook
     * @param reason {@code Deadline} if it took too long, {@code Overload} if others were in the
     *     way, {@code Size} if it is too large, {@code Unreadable} if it has too many values, is
     *     nested too deep, or is no JSON
     */
    void givenUp(String path, String reason);
  }

  /** Creates an endpoint that answers all clients. */
  public WebhookEndpoint(WebhookRouter router, ConversionWebhook conversions) {
    this(router, conversions, false, (path, reason) -> {});
  }

  /**
   * Creates an endpoint.
   *
   * @param listener hears of reviews that are given up
   * @param clientsAreKnown whether admission reviews are answered only for clients with a
   *     certificate. Conversion reviews always are answered: API servers have no client certificate
   *     for conversion.
   */
  public WebhookEndpoint(
      WebhookRouter router,
      ConversionWebhook conversions,
      boolean clientsAreKnown,
      GivenUpListener listener) {
    this(
        router,
        conversions,
        clientsAreKnown,
        listener,
        new ReviewExecutor(ReviewExecutor.Limits.ofThisProcess()));
  }

  /** Creates an endpoint with an executor of its own. */
  WebhookEndpoint(
      WebhookRouter router,
      ConversionWebhook conversions,
      boolean clientsAreKnown,
      GivenUpListener listener,
      ReviewExecutor reviews) {
    this.router = router;
    this.conversions = conversions;
    this.clientsAreKnown = clientsAreKnown;
    this.listener = listener;
    this.reviews = reviews;
  }

  @Override
  public boolean asksForCertificates() {
    return clientsAreKnown;
  }

  @Override
  public Optional<Response> answerAtOnce(Head head) {
    boolean converts = head.path().equals(CONVERSION_PATH);
    if (!converts && !router.knows(head.path())) {
      return Optional.of(Response.text(404, "no webhook at " + head.path()));
    }
    if (!head.method().equals("POST")) {
      return Optional.of(
          Response.text(405, "method " + head.method() + " is not allowed, use POST"));
    }
    if (clientsAreKnown && !converts && !head.hasCertificate()) {
      return Optional.of(Response.text(401, "Unauthorized: a client certificate is needed"));
    }
    return Optional.empty();
  }

  @Override
  public int maxBody(String path) {
    return path.equals(CONVERSION_PATH) ? MAX_CONVERSION : USUAL_BODY;
  }

  @Override
  public boolean isStreamed(String path) {
    return path.equals(CONVERSION_PATH);
  }

  /** Reviews are bounded by the namespace and the user that they are for. */
  @Override
  public boolean bounds(String path) {
    return !path.equals(CONVERSION_PATH);
  }

  @Override
  public long cost(Request request) {
    return 3 * JsonMemoryEstimate.of(request.requestBody()).largestElement();
  }

  @Override
  public Response answer(Request request) {
    if (request.path().equals(CONVERSION_PATH)) {
      return converted(request.requestBody());
    }
    WebhookRouter.Head head = WebhookRouter.head(request.requestBody().open());
    long cost = JsonMemoryEstimate.of(request.requestBody()).whole();
    if (!reviews.fits(cost)) {
      String why = "the body would take " + cost + " bytes of memory";
      return unanswered(request.path(), head, TOO_LARGE, why);
    }
    try {
      return reviews.answer(
          new ReviewExecutor.Requester(head.namespace(), head.user()),
          request.requestBody().length(),
          cost,
          () -> reviewed(request, head));
    } catch (ReviewExecutor.GivenUpException e) {
      boolean overloaded = e.reason() == ReviewExecutor.Reason.OVERLOAD;
      int status = overloaded ? UNAVAILABLE : TIMEOUT;
      return unanswered(request.path(), head, status, String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Response.text(503, "the server is closing");
    }
  }

  private Response reviewed(Request request, WebhookRouter.Head head) {
    try (InputStream in = request.requestBody().open()) {
      WebhookRouter.Reply reply = router.answer(request.path(), in);
      return reply.status() == UNREADABLE && !head.uid().isEmpty()
          ? unanswered(request.path(), head, UNREADABLE, text(reply))
          : response(reply);
    } catch (IOException e) {
      throw new UncheckedIOException("a body in memory", e);
    }
  }

  private static String text(WebhookRouter.Reply reply) {
    return new String(reply.body(), StandardCharsets.UTF_8).strip();
  }

  /** A review that isn't taken is refused, also where the registration ignores failures. */
  @Override
  public Response refusal(String path, InputStream body, Response usual) {
    if (path.equals(CONVERSION_PATH)) {
      return usual;
    }
    WebhookRouter.Head head = WebhookRouter.head(body);
    String why =
        usual.status() == TOO_LARGE
            ? "it is larger than " + maxBody(path) + " bytes"
            : "too many reviews are sent at a time";
    return head.uid().isEmpty() ? usual : unanswered(path, head, usual.status(), why);
  }

  private Response unanswered(String path, WebhookRouter.Head head, int status, String why) {
    log.warn(
        "review path={} kind={} object=\"{}/{}\" user=\"{}\" result=refused reason=\"{}\"",
        path,
        shown(head.kind()),
        shown(head.namespace()),
        shown(head.name()),
        shown(head.user()),
        why);
    listener.givenUp(path, REASONS.getOrDefault(status, ""));
    return response(WebhookRouter.unanswered(head, status, why));
  }

  private static String shown(String text) {
    return TextLimits.shown(text, MOST_SHOWN);
  }

  private static Response response(WebhookRouter.Reply reply) {
    return new Response(reply.status(), reply.isJson() ? JSON : TEXT, reply.body());
  }

  private Response converted(RequestBody requestBody) {
    try {
      ConversionWebhook.Review review = conversions.read(requestBody::open);
      return new Response(200, JSON, new Converted(review));
    } catch (IOException | IllegalArgumentException e) {
      return Response.text(400, "the body is not a review: " + e.getMessage());
    }
  }

  /**
   * Writes the response while it is computed, so that only one object of the list is in memory at a
   * time.
   */
  private record Converted(ConversionWebhook.Review review) implements Response.Content {
    @Override
    public long length() {
      return -1;
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
      review.writeAnswer(out);
    }
  }

  /**
   * Computes reviews on a few platform threads, which the operating system interrupts in favour of
   * others: a virtual thread that computes would hold one of the few carriers that leader election,
   * probes and readers share. Namespaces take turns, no namespace and no user has more than half of
   * the threads, and a review that isn't answered in time is given up. A thread that goes on with
   * such a review is replaced, and still counts for its namespace and its user. Thread-safe.
   */
  static final class ReviewExecutor {

    /**
     * How long a review may take: an API server waits at least 5 s, and 10 s where it must know.
     */
    static final Duration DEADLINE = Duration.ofSeconds(4);

    private static final int LEAST_THREADS = 4;
    private static final int THREADS_PER_PROCESSOR = 2;

    /** The most threads that are replaced at a time, per thread. */
    private static final int MOST_REPLACED = 4;

    private static final String CONTROLLER = "system:serviceaccount:kube-system:";
    private static final String ACCOUNT = "system:serviceaccount:";
    private static final String SYSTEM = "system:";

    private final Limits limits;
    private final ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            1,
            TimeUnit.MINUTES,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("review-", 0).factory());

    /** The waiting reviews of each namespace; the namespace whose turn is next comes first. */
    private final Map<String, Deque<Task>> waiting = new LinkedHashMap<>();

    private final Map<String, Integer> runningByNamespace = new HashMap<>();
    private final Map<String, Integer> runningByUser = new HashMap<>();
    private final Map<String, Long> waitingBytes = new HashMap<>();
    private int running;
    private int givenUp;
    private long memory;

    /**
     * Bounds.
     *
     * @param threads how many reviews are computed at a time
     * @param memory estimated bytes that all of them may take
     * @param waiting how many reviews of one namespace may wait
     * @param waitingBytes how many bytes the bodies of one namespace's waiting reviews may take;
     *     one may always wait
     * @param deadline how long a review may take, waiting included
     */
    record Limits(int threads, long memory, int waiting, long waitingBytes, Duration deadline) {

      static Limits ofThisProcess() {
        HttpLimits all = HttpLimits.ofThisProcess();
        int processors = Runtime.getRuntime().availableProcessors();
        return new Limits(
            Math.max(LEAST_THREADS, THREADS_PER_PROCESSOR * processors),
            all.work() / 3 * 2,
            all.concurrent() / 4,
            all.bodies() / 8,
            DEADLINE);
      }

      private int most() {
        return Math.max(1, threads / 2);
      }
    }

    /**
     * For whom a review is computed.
     *
     * @param namespace empty for objects without one
     * @param user empty if it isn't known
     */
    record Requester(String namespace, String user) {

      /** Those of no namespace take turns as their users. */
      private String lane() {
        return namespace.isEmpty() ? "/" + user : namespace;
      }

      /** Whether the user writes on behalf of everybody, as the controllers of the cluster do. */
      private boolean isControlPlane() {
        return user.startsWith(CONTROLLER)
            || (user.startsWith(SYSTEM) && !user.startsWith(ACCOUNT));
      }
    }

    /** Why a review was given up. */
    enum Reason {
      /** It was computed for too long. */
      DEADLINE,
      /** It waited for others for too long, or there was no room to wait. */
      OVERLOAD
    }

    /** A review was given up; the message says why, for its user. */
    static final class GivenUpException extends Exception {
      private static final long serialVersionUID = 1;

      private final Reason reason;

      GivenUpException(Reason reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
      }

      Reason reason() {
        return reason;
      }
    }

    private enum State {
      WAITING,
      RUNNING,
      GIVEN_UP,
      DONE
    }

    private final class Task implements Runnable {
      private final Requester requester;
      private final long bytes;
      private final long cost;
      private final Supplier<Response> review;
      private final CompletableFuture<Response> answer = new CompletableFuture<>();
      private State state = State.WAITING;

      Task(Requester requester, long bytes, long cost, Supplier<Response> review) {
        this.requester = requester;
        this.bytes = bytes;
        this.cost = cost;
        this.review = review;
      }

      @Override
      public void run() {
        try {
          answer.complete(review.get());
        } catch (RuntimeException | Error e) {
          answer.completeExceptionally(e);
        } finally {
          ended(this);
        }
      }
    }

    ReviewExecutor(Limits limits) {
      this.limits = limits;
      this.memory = limits.memory();
    }

    /** Whether a review that takes this many bytes can be computed at all. */
    boolean fits(long cost) {
      return cost <= limits.memory();
    }

    /**
     * Computes a review and waits for the answer.
     *
     * @param bytes of the body, which is held while the review waits
     * @param cost estimated bytes that computing takes; must {@link #fits fit}
     * @throws GivenUpException if it isn't answered in time
     */
    Response answer(Requester requester, long bytes, long cost, Supplier<Response> review)
        throws GivenUpException, InterruptedException {
      Task task = new Task(requester, bytes, cost, review);
      enter(task);
      try {
        return task.answer.get(limits.deadline().toNanos(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Error error) {
          throw error;
        }
        throw e.getCause() instanceof RuntimeException bug ? bug : new IllegalStateException(e);
      } catch (TimeoutException e) {
        throw giveUp(task).orElseThrow(() -> crowded(requester));
      } catch (InterruptedException e) {
        giveUp(task);
        throw e;
      }
    }

    private static GivenUpException crowded(Requester requester) {
      return new GivenUpException(
          Reason.OVERLOAD,
          "too many reviews wait for "
              + (requester.namespace().isEmpty()
                  ? "user \"" + requester.user() + "\""
                  : "namespace \"" + requester.namespace() + "\"")
              + ", try again");
    }

    private synchronized void enter(Task task) throws GivenUpException {
      String lane = task.requester.lane();
      Deque<Task> queue = waiting.computeIfAbsent(lane, each -> new ArrayDeque<>());
      long bytes = waitingBytes.merge(lane, task.bytes, Long::sum);
      queue.add(task);
      dispatch();
      boolean many = queue.size() > limits.waiting() || bytes > limits.waitingBytes();
      if (task.state == State.WAITING && many && queue.size() > 1) {
        leave(task);
        throw crowded(task.requester);
      }
    }

    private void leave(Task task) {
      String lane = task.requester.lane();
      Deque<Task> queue = waiting.get(lane);
      if (queue != null && queue.remove(task)) {
        waitingBytes.merge(lane, -task.bytes, Long::sum);
        if (queue.isEmpty()) {
          waiting.remove(lane);
          waitingBytes.remove(lane);
        }
      }
    }

    /** The reason for the user; empty if the review waited only. */
    private synchronized Optional<GivenUpException> giveUp(Task task) {
      if (task.state == State.WAITING) {
        leave(task);
        return Optional.empty();
      }
      if (task.state == State.RUNNING) {
        task.state = State.GIVEN_UP;
        givenUp++;
        dispatch();
      }
      return Optional.of(
          new GivenUpException(
              Reason.DEADLINE,
              "its review took more than "
                  + limits.deadline().toMillis() / 1000.0
                  + " s and was given up"));
    }

    /** Starts reviews while there are threads for them. */
    private void dispatch() {
      int replaced = Math.min(givenUp, MOST_REPLACED * limits.threads());
      while (running - replaced < limits.threads()) {
        Optional<Task> next = next();
        if (next.isEmpty()) {
          return;
        }
        start(next.get());
      }
    }

    private Optional<Task> next() {
      for (Map.Entry<String, Deque<Task>> lane : waiting.entrySet()) {
        if (runningByNamespace.getOrDefault(lane.getKey(), 0) < limits.most()) {
          for (Iterator<Task> tasks = lane.getValue().iterator(); tasks.hasNext(); ) {
            Task task = tasks.next();
            if (task.cost <= memory && mayRun(task.requester)) {
              return Optional.of(task);
            }
          }
        }
      }
      return Optional.empty();
    }

    private boolean mayRun(Requester requester) {
      return requester.isControlPlane()
          || runningByUser.getOrDefault(requester.user(), 0) < limits.most();
    }

    private void start(Task task) {
      String lane = task.requester.lane();
      leave(task);
      Deque<Task> rest = waiting.remove(lane);
      if (rest != null) {
        waiting.put(lane, rest); // the others come first now
      }
      task.state = State.RUNNING;
      running++;
      memory -= task.cost;
      runningByNamespace.merge(lane, 1, Integer::sum);
      runningByUser.merge(task.requester.user(), 1, Integer::sum);
      threads.execute(task);
    }

    private synchronized void ended(Task task) {
      if (task.state == State.GIVEN_UP) {
        givenUp--;
      }
      task.state = State.DONE;
      running--;
      memory += task.cost;
      less(runningByNamespace, task.requester.lane());
      less(runningByUser, task.requester.user());
      dispatch();
    }

    private static void less(Map<String, Integer> counts, String key) {
      counts.computeIfPresent(key, (each, count) -> count > 1 ? count - 1 : null);
    }
  }
}
