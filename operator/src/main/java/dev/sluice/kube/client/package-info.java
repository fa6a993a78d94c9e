/**
 * Requests to the API server: patches with one outcome type, raw streamed requests, back-off and
 * the errors a watch can end with. Paths and bodies enter; outcomes and streams leave.
 */
@NullMarked
package dev.sluice.kube.client;

import org.jspecify.annotations.NullMarked;
