package dev.sluice.lab.controlplane.binaries;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;

/** Downloads files over HTTPS, with timeouts. */
final class Downloader {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration TEXT_TIMEOUT = Duration.ofSeconds(15);
  private static final Duration FILE_TIMEOUT = Duration.ofMinutes(10);

  private final Progress progress;

  Downloader(Progress progress) {
    this.progress = progress;
  }

  String text(URI uri) throws SourceFailedException, InterruptedException {
    return get(uri, TEXT_TIMEOUT, BodyHandlers.ofString());
  }

  void file(URI uri, Checksum checksum, Path target)
      throws SourceFailedException, InterruptedException, IOException {
    progress.say("downloading " + uri);
    get(uri, FILE_TIMEOUT, BodyHandlers.ofFile(target));
    checksum.verify(target);
  }

  private static <T> T get(URI uri, Duration timeout, BodyHandler<T> handler)
      throws SourceFailedException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(uri).timeout(timeout).GET().build();
    try (HttpClient client =
        HttpClient.newBuilder()
            .connectTimeout(CONNECT_TIMEOUT)
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build()) {
      HttpResponse<T> response = client.send(request, handler);
      if (response.statusCode() != 200) {
        throw new SourceFailedException("%s answers %d".formatted(uri, response.statusCode()));
      }
      return response.body();
    } catch (IOException e) {
      String reason = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      throw new SourceFailedException("%s can't be reached (%s)".formatted(uri, reason), e);
    }
  }
}
