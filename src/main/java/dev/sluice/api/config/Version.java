package dev.sluice.api.config;

import java.util.LinkedHashMap;
import java.util.Map;

/** The versions of the file. */
enum Version {
  V1BETA2("config.kueue.x-k8s.io/v1beta2"),
  V1BETA1("config.kueue.x-k8s.io/v1beta1");

  private final String apiVersion;

  Version(String apiVersion) {
    this.apiVersion = apiVersion;
  }

  String apiVersion() {
    return apiVersion;
  }

  /** The versions by what the file says, the newest first. */
  static Map<String, Version> byName() {
    Map<String, Version> result = new LinkedHashMap<>();
    for (Version version : values()) {
      result.put(version.apiVersion, version);
    }
    return result;
  }
}
