package dev.sluice.controllers;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices as events of the API server. The name of an event follows from what it says, so that a
 * restart doesn't say it again.
 */
public final class EventNotices implements Notices {

  private static final Logger LOG = LoggerFactory.getLogger(EventNotices.class);
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final int LONGEST_NOTE = 1024;
  private static final int LONGEST_NAME = 253;

  private final KubernetesClient client;
  private final Leadership leadership;
  private final InstantSource clock;
  private final String instance;

  /**
   * Notices written by this process.
   *
   * @param leadership who doesn't lead says nothing
   * @param instance which process says it, for people
   */
  public EventNotices(
      KubernetesClient client, Leadership leadership, InstantSource clock, String instance) {
    this.client = client;
    this.leadership = leadership;
    this.clock = clock;
    this.instance = instance;
  }

  @Override
  public void warn(HasMetadata object, String reason, String note) {
    LOG.warn(
        "{} {} reason={} note=\"{}\"",
        object.getKind(),
        object.getMetadata().getName(),
        reason,
        note);
    if (!leadership.leading()) {
      return;
    }
    try {
      client.resource(event(object, reason, note)).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        LOG.warn(
            "{} {} event not written reason=\"{}\"",
            object.getKind(),
            object.getMetadata().getName(),
            e.getMessage());
      }
    }
  }

  private Event event(HasMetadata object, String reason, String note) {
    String namespace = object.getMetadata().getNamespace();
    return new EventBuilder()
        .withNewMetadata()
        .withNamespace(namespace == null ? "default" : namespace)
        .withName(eventName(object, reason, note))
        .endMetadata()
        .withEventTime(new MicroTime(MICROS.format(clock.instant())))
        .withType("Warning")
        .withReason(reason)
        .withAction(reason)
        .withNote(note.length() <= LONGEST_NOTE ? note : note.substring(0, LONGEST_NOTE))
        .withReportingController("kueue.x-k8s.io/sluice")
        .withReportingInstance(instance)
        .withNewRegarding()
        .withApiVersion(object.getApiVersion())
        .withKind(object.getKind())
        .withNamespace(namespace)
        .withName(object.getMetadata().getName())
        .withUid(object.getMetadata().getUid())
        .endRegarding()
        .build();
  }

  private static String eventName(HasMetadata object, String reason, String note) {
    String said =
        String.join(
            "\n",
            object.getMetadata().getUid(),
            String.valueOf(object.getMetadata().getGeneration()),
            reason,
            note);
    String suffix = "." + UUID.nameUUIDFromBytes(said.getBytes(StandardCharsets.UTF_8));
    String name = object.getMetadata().getName();
    int room = LONGEST_NAME - suffix.length();
    return (name.length() <= room ? name : name.substring(0, room)) + suffix;
  }
}
