/**
 * The queue of keys that controllers work from: each key is handled by one worker at a time, and a
 * key that fails is retried with growing delays.
 */
@NullMarked
package dev.sluice.kube.workqueue;

import org.jspecify.annotations.NullMarked;
