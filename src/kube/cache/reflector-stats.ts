/** What a reflector counts, for metrics. Counters only grow. */
export interface ReflectorStats {
  /** In the store now. */
  objects: number;
  /** Complete lists. One is normal; each further one was a 410 or a stream that made no sense. */
  lists: number;
  /** Changes that watches brought. */
  events: number;
  /** Changes in which nothing differs that the projection keeps. */
  unchanged: number;
  /** Watches that the server ended in good order. */
  cleanEnds: number;
  /** The version to resume from was too old (410). */
  expired: number;
  /** Watches that were replaced because nothing came for too long. */
  silences: number;
  /** Connections that failed in any other way, silences included. */
  failures: number;
  /** Subscribers and projections that threw. */
  subscriberErrors: number;
  /** Since the server last sent anything; none before it ever did. */
  heardMsAgo: number | undefined;
}

export const NO_STATS: ReflectorStats = {
  objects: 0,
  lists: 0,
  events: 0,
  unchanged: 0,
  cleanEnds: 0,
  expired: 0,
  silences: 0,
  failures: 0,
  subscriberErrors: 0,
  heardMsAgo: undefined,
};
