package dev.sluice.server.endpoints;

import dev.sluice.server.certificates.ReloadableKeyManager;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BooleanSupplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Sends requests to the operator's own server, as the API server will, until the code is compiled
 * and loaded. Otherwise the first requests of a new server would take seconds.
 */
public final class WarmUp {

  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final ReloadableKeyManager keys;
  private final InstantSource clock;

  /**
   * One request of the warm-up.
   *
   * @param path path to post to
   * @param body JSON
   */
  public record Sample(String path, byte[] body) {}

  /**
   * When the warm-up ends.
   *
   * @param rounds maximum number of rounds
   * @param budget time after which no further round starts
   * @param enough asked before each round whether the rounds before are enough
   */
  public record Limits(int rounds, Duration budget, BooleanSupplier enough) {}

  /** Creates a client that trusts only the serving certificate of the key manager. */
  public WarmUp(ReloadableKeyManager keys, InstantSource clock) {
    this.keys = keys;
    this.clock = clock;
  }

  /**
   * Sends the samples in turn, round by round; each must be answered with status 200.
   *
   * @param host address of the server
   * @throws IOException when the server cannot be reached or answers with another status
   * @throws InterruptedException when the process stops meanwhile
   */
  public void run(String host, int port, List<Sample> samples, Limits limits)
      throws IOException, InterruptedException {
    var end = clock.instant().plus(limits.budget());
    try (HttpClient client = client()) {
      for (int round = 0; round < limits.rounds() && !limits.enough().getAsBoolean(); round++) {
        for (Sample sample : samples) {
          send(client, host, port, sample);
        }
        if (!clock.instant().isBefore(end)) {
          return;
        }
      }
    }
  }

  private static void send(HttpClient client, String host, int port, Sample sample)
      throws IOException, InterruptedException {
    String authority = host.contains(":") ? "[" + host + "]" : host;
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("https://" + authority + ":" + port + sample.path()))
            .timeout(TIMEOUT)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(sample.body()))
            .build();
    HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    if (response.statusCode() != 200) {
      throw new IOException(sample.path() + " answered " + response.statusCode());
    }
  }

  private HttpClient client() throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          new KeyManager[] {keys},
          new TrustManager[] {new PinnedTrustManager(keys)},
          new SecureRandom());
      return HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .sslContext(context)
          .connectTimeout(TIMEOUT)
          .build();
    } catch (GeneralSecurityException e) {
      throw new IOException("no TLS for the warm-up: " + e.getMessage(), e);
    }
  }

  /** Trusts exactly the certificate that this process serves. */
  private static final class PinnedTrustManager extends X509ExtendedTrustManager {

    private final ReloadableKeyManager keys;

    PinnedTrustManager(ReloadableKeyManager keys) {
      this.keys = keys;
    }

    private void check(X509Certificate[] chain) throws CertificateException {
      if (!keys.current().map(own -> own.certificate().equals(chain[0])).orElse(false)) {
        throw new CertificateException("not the certificate of this process");
      }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      throw new CertificateException("no clients here");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      throw new CertificateException("no clients here");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      throw new CertificateException("no clients here");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
