package dev.sluice.api.config;

import java.util.LinkedHashMap;
import java.util.Map;

/** The versions of the file. */
enum ConfigurationVersion {
  V1BETA2("config.kueue.x-k8s.io/v1beta2"),
  V1BETA1("config.kueue.x-k8s.io/v1beta1");

  private final String apiVersion;

  ConfigurationVersion(String apiVersion) {
    this.apiVersion = apiVersion;
  }

  String apiVersion() {
    return apiVersion;
  }

  /** The versions by what the file says, the newest first. */
  static Map<String, ConfigurationVersion> byName() {
    Map<String, ConfigurationVersion> result = new LinkedHashMap<>();
    for (ConfigurationVersion configurationVersion : values()) {
      result.put(configurationVersion.apiVersion, configurationVersion);
    }
    return result;
  }
}
