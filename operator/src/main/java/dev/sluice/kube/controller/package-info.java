/**
 * What every controller needs: a queue of keys, of which each is handled by one worker at a time
 * and retried with growing delays, leadership checks, finalizers, triggers, observable stores and
 * events that are emitted once per generation. Objects and triggers enter; calls of handlers and
 * reconcilers leave.
 */
@NullMarked
package dev.sluice.kube.controller;

import org.jspecify.annotations.NullMarked;
