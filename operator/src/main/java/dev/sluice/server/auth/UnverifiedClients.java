package dev.sluice.server.auth;

import java.net.Socket;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Lets a handshake succeed with any certificate of a client: TLS then only proves that the client
 * has its key. Who the client is, {@link RequestUsers} decides for each request, so that a stranger
 * gets an answer that says what is wrong, and a new authority of the cluster counts at once. Never
 * for an endpoint that doesn't ask it.
 */
public final class UnverifiedClients extends X509ExtendedTrustManager {

  private static final String NO_SERVERS = "no servers here";

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) {}

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) {
    throw new UnsupportedOperationException(NO_SERVERS);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {
    throw new UnsupportedOperationException(NO_SERVERS);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
    throw new UnsupportedOperationException(NO_SERVERS);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
