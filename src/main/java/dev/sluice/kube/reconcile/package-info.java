/**
 * What every reconciler needs: leadership checks, finalizers, triggers, observable stores and
 * events that are emitted once per generation. Objects and triggers enter; reconcile calls leave.
 */
@NullMarked
package dev.sluice.kube.reconcile;

import org.jspecify.annotations.NullMarked;
