package dev.sluice.kube.client;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import javax.net.ssl.SSLException;

/** Failed requests and unreadable files in one sentence, for people. */
public final class ApiErrorText {

  private static final int LOWEST_HTTP_CODE = 100;
  private static final int UNAUTHORIZED = 401;
  private static final int NOT_FOUND = 404;

  private ApiErrorText() {}

  /** Whether the API server gave no answer: the code is none of HTTP. */
  public static boolean unreachable(KubernetesClientException failure) {
    return failure.getCode() < LOWEST_HTTP_CODE;
  }

  /**
   * The same, with the address of the API server where it was not reached.
   *
   * @param server the address, if it is known
   */
  public static String of(KubernetesClientException failure, Optional<String> server) {
    String text = of(failure);
    return server
        .filter(any -> unreachable(failure))
        .map(
            address ->
                text.replaceFirst(
                    "^the API server", Matcher.quoteReplacement("the API server at " + address)))
        .orElse(text);
  }

  /** What went wrong with a request: what the API server said, or why it was not reached. */
  public static String of(KubernetesClientException failure) {
    Status status = failure.getStatus();
    String said = status == null || status.getMessage() == null ? "" : status.getMessage().strip();
    if (unreachable(failure)) {
      return notReached(failure);
    }
    return switch (failure.getCode()) {
      case UNAUTHORIZED -> "the API server does not accept the credentials";
      case NOT_FOUND ->
          said.isEmpty() || said.contains("the server could not find the requested resource")
              ? "the API server does not know this kind; are the definitions of "
                  + ApiVersions.GROUP
                  + " installed?"
              : said;
      default -> said.isEmpty() ? "the API server answered " + failure.getCode() : said;
    };
  }

  /** What went wrong, whatever it was: one line. */
  public static String of(Throwable failure) {
    return switch (failure) {
      case KubernetesClientException refused -> of(refused);
      case IOException io -> of(io);
      case CompletionException wrapper when wrapper.getCause() != null -> of(wrapper.getCause());
      default ->
          failure.getMessage() == null
              ? failure.getClass().getSimpleName()
              : failure.getMessage().lines().findFirst().orElse("");
    };
  }

  /** What went wrong with a file or a connection. */
  public static String of(IOException failure) {
    return switch (failure) {
      case NoSuchFileException missing -> missing.getFile() + " does not exist";
      case AccessDeniedException denied -> denied.getFile() + " may not be read";
      case UnknownHostException unknown -> "the host " + unknown.getMessage() + " is not known";
      case ConnectException refused ->
          Optional.ofNullable(refused.getMessage()).orElse("the connection was refused");
      case SSLException tls when untrusted(tls) ->
          "its certificate is not signed by an authority that is trusted here";
      case SSLException tls -> "TLS failed: " + tls.getMessage();
      default ->
          failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    };
  }

  /**
   * Whether the other side of a connection showed a certificate of an authority that isn't trusted.
   */
  public static boolean untrusted(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CertPathBuilderException
          || cause instanceof CertPathValidatorException) {
        return true;
      }
    }
    return false;
  }

  private static String notReached(KubernetesClientException failure) {
    if (untrusted(failure)) {
      return "the API server can't be reached: its certificate is not signed by the authority that the"
          + " kubeconfig names (certificate-authority-data)";
    }
    Throwable cause = failure;
    Throwable deepest = failure;
    while (cause != null) {
      if (cause instanceof TimeoutException) {
        return "the API server did not answer in time";
      }
      deepest = cause;
      cause = cause.getCause();
    }
    if (deepest instanceof IOException io) {
      return "the API server can't be reached: " + of(io);
    }
    return deepest.getMessage() == null
        ? deepest.getClass().getSimpleName()
        : "the API server can't be reached: " + deepest.getMessage().lines().findFirst().orElse("");
  }
}
