/**
 * Kubernetes events about objects: aggregated into series, limited in rate, written in the
 * background. Object references and texts enter; event objects leave for the API server.
 */
@NullMarked
package dev.sluice.kube.events;

import org.jspecify.annotations.NullMarked;
