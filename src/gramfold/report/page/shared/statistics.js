// The few functions of probability that intervals need, to about the precision of a double.

const ROUNDS = 200; // of bisection, at most
const TERMS = 1_000; // of a continued fraction, at most
const SMALL = 1e-300;

// Wichura, Algorithm AS 241, Applied Statistics 37 (1988): numerators and denominators, lowest power first
const MIDDLE = [
  [
    3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457,
    67265.770927008700853, 33430.575583588128105, 2509.0809287301226727,
  ],
  [
    1, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077, 21213.794301586595867, 39307.89580009271061,
    28729.085735721942674, 5226.495278852854561,
  ],
];
const NEAR = [
  [
    1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
    1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 0.00077454501427834140764,
  ],
  [
    1, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455, 0.14810397642748007459,
    0.0151986665636164571966, 0.0005475938084995344946, 1.05075007164441684324e-9,
  ],
];
const FAR = [
  [
    6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123,
    0.026532189526576123093, 0.0012426609473880784386, 0.0000271155556874348757815, 2.01033439929228813265e-7,
  ],
  [
    1, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525, 0.0007868691311456132591,
    0.000018463183175100546818, 1.4215117583164458887e-7, 2.04426310338993978564e-15,
  ],
];

const ratioOf = ([above, below], x) => powers(above, x) / powers(below, x);
const powers = (factors, x) => factors.reduceRight((sum, factor) => sum * x + factor, 0);

/** The number that a normal deviate is above with this chance. */
export function normalDeviate(tail) {
  const share = 1 - tail;
  const q = 0.5 - tail;
  if (Math.abs(q) <= 0.425) return q * ratioOf(MIDDLE, 0.180625 - q * q);
  const r = Math.sqrt(-Math.log(q < 0 ? share : tail));
  const size = r <= 5 ? ratioOf(NEAR, r - 1.6) : ratioOf(FAR, r - 5);
  return q < 0 ? -size : size;
}

// Lanczos' sum with g = 607/128, as Godfrey computed it
const LANCZOS = [
  0.99999999999999709182, 57.156235665862923517, -59.597960355475491248, 14.136097974741747174, -0.49191381609762019978,
  0.000033994649984811888699, 0.000046523628927048575665, -0.000098374475304879564677, 0.00015808870322491248884,
  -0.00021026444172410488319, 0.0002174396181152126432, -0.00016431810653676389022, 0.000084418223983852743293,
  -0.00002619083840158140867, 0.0000036899182659531622704,
];

/** Logarithm of the gamma function of a positive number. */
export function logGamma(x) {
  const base = x + 607 / 128 - 0.5;
  let sum = LANCZOS[0];
  for (let k = 1; k < LANCZOS.length; k++) sum += LANCZOS[k] / (x - 1 + k);
  return Math.log(sum * Math.sqrt(2 * Math.PI)) + (x - 0.5) * Math.log(base) - base;
}

/** The regularised incomplete beta function, by Lentz's continued fraction. */
export function incompleteBeta(a, b, x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let product = d;
  for (let m = 1; m <= TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    product *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    product *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * product;
}

const nonzero = (value) => (Math.abs(value) < SMALL ? SMALL : value);

/** Where the incomplete beta function has this value. */
export function betaQuantile(a, b, share) {
  return bisected((x) => incompleteBeta(a, b, x) <= share, 0, 1);
}

/** The end of the part of [inside, outside] that begins at `inside` and in which `holds`. */
export function bisected(holds, inside, outside) {
  for (let round = 0; round < ROUNDS; round++) {
    const middle = 0.5 * (inside + outside);
    if (middle === inside || middle === outside) break;
    if (holds(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}
