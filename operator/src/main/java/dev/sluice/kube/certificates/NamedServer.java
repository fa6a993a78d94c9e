package dev.sluice.kube.certificates;

import java.nio.ByteBuffer;
import java.security.KeyManagementException;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.BiFunction;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Encrypted connections to a server that has another name than the address it is reached at. The
 * server is asked for that name, and its certificate must have it; the address isn't accepted
 * instead. Clients that know no such name set the one of the address; this is undone here.
 */
public final class NamedServer {

  private NamedServer() {}

  /**
   * A context whose engines connect to a server of this name. Its sockets are not available.
   *
   * @param context what the engines trust and log in with
   * @param name the name of the server, a host of DNS
   */
  public static SSLContext context(SSLContext context, String name) {
    return new NamedContext(context, name);
  }

  /** A context of the public class; its constructor is for providers. */
  private static final class NamedContext extends SSLContext {

    NamedContext(SSLContext context, String name) {
      super(new Spi(context, name), context.getProvider(), context.getProtocol());
    }
  }

  /** Makes engines with the name of the server. */
  private static final class Spi extends SSLContextSpi {

    private final SSLContext context;
    private final String name;

    Spi(SSLContext context, String name) {
      this.context = context;
      this.name = name;
    }

    @Override
    protected void engineInit(
        KeyManager @Nullable [] keys,
        TrustManager @Nullable [] trust,
        @Nullable SecureRandom random)
        throws KeyManagementException {
      throw new KeyManagementException("the context is already in use");
    }

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
      throw new UnsupportedOperationException();
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
      throw new UnsupportedOperationException();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine() {
      return engineCreateSSLEngine(name, -1);
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(String host, int port) {
      NamedEngine engine = new NamedEngine(context.createSSLEngine(name, port), name);
      engine.setSSLParameters(engine.getSSLParameters());
      return engine;
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
      return context.getServerSessionContext();
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
      return context.getClientSessionContext();
    }
  }

  /** An engine that keeps the name of the server, and verifies it, whatever its parameters say. */
  private static final class NamedEngine extends SSLEngine {

    private final SSLEngine engine;
    private final String name;

    NamedEngine(SSLEngine engine, String name) {
      super(name, engine.getPeerPort());
      this.engine = engine;
      this.name = name;
    }

    @Override
    public void setSSLParameters(SSLParameters parameters) {
      parameters.setServerNames(List.of(new SNIHostName(name)));
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
    }

    @Override
    public void beginHandshake() throws SSLException {
      engine.beginHandshake();
    }

    @Override
    public void closeInbound() throws SSLException {
      engine.closeInbound();
    }

    @Override
    public void closeOutbound() {
      engine.closeOutbound();
    }

    @Override
    public @Nullable String getApplicationProtocol() {
      return engine.getApplicationProtocol();
    }

    @Override
    public @Nullable Runnable getDelegatedTask() {
      return engine.getDelegatedTask();
    }

    @Override
    public boolean getEnableSessionCreation() {
      return engine.getEnableSessionCreation();
    }

    @Override
    public String[] getEnabledCipherSuites() {
      return engine.getEnabledCipherSuites();
    }

    @Override
    public String[] getEnabledProtocols() {
      return engine.getEnabledProtocols();
    }

    @Override
    public @Nullable String getHandshakeApplicationProtocol() {
      return engine.getHandshakeApplicationProtocol();
    }

    @Override
    public @Nullable BiFunction<SSLEngine, List<String>, String>
        getHandshakeApplicationProtocolSelector() {
      return engine.getHandshakeApplicationProtocolSelector();
    }

    @Override
    public @Nullable SSLSession getHandshakeSession() {
      return engine.getHandshakeSession();
    }

    @Override
    public SSLEngineResult.HandshakeStatus getHandshakeStatus() {
      return engine.getHandshakeStatus();
    }

    @Override
    public boolean getNeedClientAuth() {
      return engine.getNeedClientAuth();
    }

    @Override
    public SSLSession getSession() {
      return engine.getSession();
    }

    @Override
    public String[] getSupportedCipherSuites() {
      return engine.getSupportedCipherSuites();
    }

    @Override
    public String[] getSupportedProtocols() {
      return engine.getSupportedProtocols();
    }

    @Override
    public boolean getUseClientMode() {
      return engine.getUseClientMode();
    }

    @Override
    public boolean getWantClientAuth() {
      return engine.getWantClientAuth();
    }

    @Override
    public boolean isInboundDone() {
      return engine.isInboundDone();
    }

    @Override
    public boolean isOutboundDone() {
      return engine.isOutboundDone();
    }

    @Override
    public SSLParameters getSSLParameters() {
      return engine.getSSLParameters();
    }

    @Override
    public void setEnableSessionCreation(boolean flag) {
      engine.setEnableSessionCreation(flag);
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
      engine.setEnabledCipherSuites(suites);
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {
      engine.setEnabledProtocols(protocols);
    }

    @Override
    public void setHandshakeApplicationProtocolSelector(
        BiFunction<SSLEngine, List<String>, String> selector) {
      engine.setHandshakeApplicationProtocolSelector(selector);
    }

    @Override
    public void setNeedClientAuth(boolean need) {
      engine.setNeedClientAuth(need);
    }

    @Override
    public void setUseClientMode(boolean mode) {
      engine.setUseClientMode(mode);
    }

    @Override
    public void setWantClientAuth(boolean want) {
      engine.setWantClientAuth(want);
    }

    @Override
    public SSLEngineResult wrap(
        ByteBuffer[] sources, int offset, int length, ByteBuffer destination) throws SSLException {
      return engine.wrap(sources, offset, length, destination);
    }

    @Override
    public SSLEngineResult unwrap(
        ByteBuffer source, ByteBuffer[] destinations, int offset, int length) throws SSLException {
      return engine.unwrap(source, destinations, offset, length);
    }
  }
}
