/**
 * The dashboard: pages for a browser, and the documents that they show. Input: the engine's
 * published views, the informers' caches, the Workload cache, and who may see what, which the
 * cluster decides. Output: a handler of HTTP requests; nothing is written to the cluster.
 */
@NullMarked
package dev.sluice.dashboard;

import org.jspecify.annotations.NullMarked;
