"""Writes duck.obj: a coarse rubber duck of seven closed surfaces, with the normals of the shape that they were fitted to.

Each surface is a subdivided icosahedron blown up until it meets a signed distance function's zero; then its vertices slide
along the surface until they are evenly spread. z is up, the duck looks along x.

    python3 assets/meshes/duck.py assets/meshes/duck.obj
"""

import math
import sys


def add(a, b, s=1.0):
    return [a[i] + s * b[i] for i in range(3)]


def dot(a, b):
    return sum(a[i] * b[i] for i in range(3))


def unit(a):
    size = math.sqrt(dot(a, a))
    return [x / size for x in a]


def ellipsoid(p, center, radii, tilt=0.0):
    """Nearly the distance from an ellipsoid that is turned by `tilt` radians around the y axis."""
    x, y, z = add(p, center, -1.0)
    x, z = x * math.cos(tilt) + z * math.sin(tilt), z * math.cos(tilt) - x * math.sin(tilt)
    k0 = math.sqrt(sum((v / r) ** 2 for v, r in zip((x, y, z), radii)))
    k1 = math.sqrt(sum((v / r**2) ** 2 for v, r in zip((x, y, z), radii)))
    return k0 * (k0 - 1.0) / max(k1, 1e-9)


def join(a, b, soft):
    h = max(soft - abs(a - b), 0.0) / soft
    return min(a, b) - h * h * soft * 0.25


def body(p):
    p = [p[0], abs(p[1]), p[2]]
    trunk = ellipsoid(p, [0.0, 0.0, 0.72], [1.18, 0.88, 0.74])
    # Flattened below, so that it sits.
    trunk = -join(-trunk, p[2] - 0.12, 0.3)
    tail = ellipsoid(p, [-1.12, 0.0, 1.12], [0.44, 0.30, 0.20], 2.45)
    neck = ellipsoid(p, [0.52, 0.0, 1.25], [0.46, 0.44, 0.5])
    return join(join(trunk, tail, 0.5), neck, 0.35)


def head(p):
    cheeks = ellipsoid(p, [0.72, 0.0, 1.72], [0.50, 0.60, 0.44])
    return join(ellipsoid(p, [0.62, 0.0, 1.86], [0.58, 0.56, 0.56]), cheeks, 0.3)


def beak(p):
    return ellipsoid(p, [1.30, 0.0, 1.73], [0.36, 0.29, 0.115], 0.24)


def wing(side):
    return lambda p: ellipsoid(p, [-0.14, 0.77 * side, 0.84], [0.60, 0.20, 0.36], -0.32)


def eye(side):
    return lambda p: ellipsoid(p, [1.04, 0.285 * side, 2.07], [0.10, 0.10, 0.125])


def icosphere(n):
    """Points on the unit sphere and triangles, each face of the icosahedron cut into n * n."""
    g = (1 + math.sqrt(5)) / 2
    corners = [unit(p) for p in (
        [-1, g, 0], [1, g, 0], [-1, -g, 0], [1, -g, 0], [0, -1, g], [0, 1, g],
        [0, -1, -g], [0, 1, -g], [g, 0, -1], [g, 0, 1], [-g, 0, -1], [-g, 0, 1])]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
             (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10),
             (8, 6, 7), (9, 8, 1)]
    points, known, triangles = [], {}, []

    def point(face, i, j):
        weights = sorted((c, w) for c, w in zip(face, (n - i - j, i, j)) if w)
        key = tuple(weights)
        if key not in known:
            known[key] = len(points)
            points.append(unit([sum(w * corners[c][k] for c, w in weights) for k in range(3)]))
        return known[key]

    for face in faces:
        for i in range(n):
            for j in range(n - i):
                triangles.append((point(face, i, j), point(face, i + 1, j), point(face, i, j + 1)))
                if i + j < n - 1:
                    triangles.append((point(face, i + 1, j), point(face, i + 1, j + 1), point(face, i, j + 1)))
    return points, triangles


def gradient(shape, p, h=1e-4):
    return [(shape([p[i] + h * (i == k) for i in range(3)]) - shape([p[i] - h * (i == k) for i in range(3)])) / (2 * h)
            for k in range(3)]


def outwards(shape, center, direction):
    """The point of the surface in this direction."""
    low, high = 0.0, 4.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if shape(add(center, direction, middle)) < 0.0 else (low, middle)
    return add(center, direction, low)


def wrap(shape, n, center, rounds=40):
    points, triangles = icosphere(n)
    points = [outwards(shape, center, p) for p in points]
    for _ in range(rounds):
        # Each vertex slides to where the larger triangles around it are.
        pull = [[0.0, 0.0, 0.0, 0.0] for _ in points]
        for t in triangles:
            a, b, c = (points[i] for i in t)
            ab, ac = add(b, a, -1.0), add(c, a, -1.0)
            area = math.sqrt(max(dot(ab, ab) * dot(ac, ac) - dot(ab, ac) ** 2, 0.0))
            for i in t:
                for k in range(3):
                    pull[i][k] += area * (a[k] + b[k] + c[k]) / 3.0
                pull[i][3] += area
        moved = []
        for p, (x, y, z, area) in zip(points, pull):
            normal = unit(gradient(shape, p))
            slide = add([x / area, y / area, z / area], p, -1.0)
            p = add(add(p, slide, 0.5), normal, -0.5 * dot(slide, normal))
            for _ in range(3):
                slope = gradient(shape, p)
                p = add(p, slope, -shape(p) / max(dot(slope, slope), 0.25))
            moved.append(p)
        points = moved
    return points, [unit(gradient(shape, p)) for p in points], triangles


def main(path):
    parts = [
        ("body", wrap(body, 4, [0.0, 0.0, 0.75]), (0.92, 0.56, 0.03)),
        ("head", wrap(head, 3, [0.62, 0.0, 1.86]), (0.92, 0.56, 0.03)),
        ("beak", wrap(beak, 2, [1.30, 0.0, 1.73]), (0.80, 0.17, 0.02)),
        ("left wing", wrap(wing(1), 2, [-0.14, 0.77, 0.84]), (0.92, 0.50, 0.025)),
        ("right wing", wrap(wing(-1), 2, [-0.14, -0.77, 0.84]), (0.92, 0.50, 0.025)),
        ("left eye", wrap(eye(1), 1, [1.04, 0.285, 2.07]), (0.012, 0.012, 0.016)),
        ("right eye", wrap(eye(-1), 1, [1.04, -0.285, 2.07]), (0.012, 0.012, 0.016)),
    ]
    count = 0
    with open(path, "w") as out:
        out.write("# A coarse rubber duck, written by duck.py: x y z, then linear red green blue.\n")
        for name, (points, normals, triangles), color in parts:
            out.write(f"o {name}\n")
            for p in points:
                out.write("v %.5f %.5f %.5f %.3f %.3f %.3f\n" % (*p, *color))
            for n in normals:
                out.write("vn %.5f %.5f %.5f\n" % tuple(n))
            for t in triangles:
                out.write("f " + " ".join(f"{count + i + 1}//{count + i + 1}" for i in t) + "\n")
            count += len(points)


if __name__ == "__main__":
    main(sys.argv[1])
