package dev.sluice.lab.player;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.JobFrameworks;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;

/** All kinds whose own controllers are played: one line per kind. */
public final class PlayedKinds implements AutoCloseable {

  private final List<KindPlayer> players;

  private PlayedKinds(List<KindPlayer> players) {
    this.players = List.copyOf(players);
  }

  /** Their descriptions. */
  public static List<PlayedKind> all() {
    List<PlayedKind> kinds = new ArrayList<>();
    kinds.add(new PlayedJobSet());
    kinds.addAll(PlayedTrainingJob.all());
    kinds.add(new PlayedMpiJob());
    kinds.add(new PlayedTrainJob());
    kinds.add(new PlayedRayCluster());
    kinds.add(new PlayedRayJob());
    kinds.add(new PlayedRayService());
    kinds.add(new PlayedAppWrapper());
    kinds.add(new PlayedSparkApplication());
    kinds.add(new PlayedLeaderWorkerSet());
    return List.copyOf(kinds);
  }

  /** The fields of a configuration file that turn all kinds on, as YAML. */
  public static String configuration() {
    return "integrations: {frameworks: [%s]}\nfeatureGates: {%s: true}\n"
        .formatted(
            String.join(", ", JobFrameworks.integrated()),
            FeatureGate.SPARK_APPLICATION_INTEGRATION.text());
  }

  /** Makes a cluster serve all of them, and plays their controllers until it is closed. */
  public static PlayedKinds play(KubernetesClient client) {
    List<PlayedKind> kinds = all();
    kinds.forEach(played -> PlayedDefinitions.install(client, played));
    return new PlayedKinds(kinds.stream().map(played -> new KindPlayer(client, played)).toList());
  }

  /** How many kinds are played. */
  public int count() {
    return players.size();
  }

  @Override
  public void close() {
    players.forEach(KindPlayer::close);
  }
}
