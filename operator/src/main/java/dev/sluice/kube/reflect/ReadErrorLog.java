package dev.sluice.kube.reflect;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What could not be read. Each fault is counted; of the same object with the same sort of reason
 * only the first is logged and reported as news. Usable from any thread; never throws.
 */
public final class ReadErrorLog {

  private static final Logger LOG = LoggerFactory.getLogger(ReadErrorLog.class);
  private static final int REMEMBERED = 1000;
  private static final int LONGEST_REASON = 300;

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Told, Boolean> known = new LinkedHashMap<>();
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();

  /**
   * An object that could not be read.
   *
   * @param apiVersion as the object says it; empty when it doesn't
   * @param kind as the object says it; empty when it doesn't
   * @param namespace empty for objects of the whole cluster
   * @param name of the object
   * @param uid of the object
   * @param reason for people, at most 300 characters
   */
  public record Fault(
      String apiVersion, String kind, String namespace, String name, String uid, String reason) {

    /** The fault of reading {@code object}. */
    public static Fault of(JsonNode object, Throwable cause) {
      JsonNode metadata = object.path("metadata");
      String reason = cause.getClass().getSimpleName() + ": " + message(cause);
      return new Fault(
          object.path("apiVersion").asText(),
          object.path("kind").asText(),
          metadata.path("namespace").asText(),
          metadata.path("name").asText(),
          metadata.path("uid").asText(),
          reason.substring(0, Math.min(reason.length(), LONGEST_REASON)));
    }
  }

  private static String message(Throwable cause) {
    String message =
        cause instanceof JsonProcessingException json
            ? json.getOriginalMessage()
            : cause.getMessage();
    return String.valueOf(message).replaceAll("\\p{Cntrl}", " ");
  }

  /** Of the same object and the same sort of fault. */
  private record Told(String kind, String namespace, String name, String sort) {

    static Told of(Fault fault) {
      String reason = fault.reason();
      return new Told(
          fault.kind(),
          fault.namespace(),
          fault.name(),
          reason.substring(0, Math.max(0, reason.indexOf(':'))));
    }
  }

  /** Is told of faults. */
  @FunctionalInterface
  public interface Listener {

    /**
     * An object could not be read.
     *
     * @param news whether this wasn't told lately of the same object
     */
    void unreadable(Fault fault, boolean news);
  }

  /** Adds a listener, which must not block. */
  public void listen(Listener listener) {
    listeners.add(listener);
  }

  /** Notes that an object could not be read. */
  public void report(Fault fault) {
    boolean news = isNews(fault);
    if (news) {
      LOG.error(
          "unreadable kind={} object={}/{} reason=\"{}\"",
          fault.kind(),
          fault.namespace(),
          fault.name(),
          fault.reason());
    }
    for (Listener listener : listeners) {
      try {
        listener.unreadable(fault, news);
      } catch (RuntimeException e) {
        LOG.error("readError event=lost reason=\"a listener failed\"", e);
      }
    }
  }

  private boolean isNews(Fault fault) {
    lock.lock();
    try {
      if (known.putIfAbsent(Told.of(fault), true) != null) {
        return false;
      }
      if (known.size() > REMEMBERED) {
        known.remove(known.keySet().iterator().next());
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Has readers that {@code mapper} calls report here. */
  public void reportedBy(ObjectMapper mapper) {
    mapper.setConfig(mapper.getDeserializationConfig().withAttribute(ReadErrorLog.class, this));
  }

  /** Reports to whom the context's mapper was told to report, if it was. */
  static void report(DeserializationContext context, JsonNode object, Throwable cause) {
    if (context.getAttribute(ReadErrorLog.class) instanceof ReadErrorLog faults) {
      faults.report(Fault.of(object, cause));
    }
  }
}
