package dev.sluice.local.redirect;

/**
 * What redirects are decided by.
 *
 * @param queueRequests length of the fast tier's queue above which the threshold shrinks (L)
 * @param sizeBytes the threshold while there is no queue (S_max)
 * @param stepRatio how much of it the threshold loses at a time (p), from 0 to 1
 */
public record RedirectLimits(double queueRequests, double sizeBytes, double stepRatio) {}
